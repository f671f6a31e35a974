import pytest

from domain.memory.words import index_words, query_terms


def test_forms_and_synonyms_of_a_word_are_one() -> None:
    assert set(query_terms("photos of invoices")) <= set(index_words("a picture of the bill"))


def test_words_that_say_nothing_are_not_searched_for() -> None:
    assert query_terms("what is the password of it") == query_terms("password")


def test_a_query_of_nothing_but_small_words_is_searched_for_as_it_is() -> None:
    assert query_terms("who am I")


def test_weekdays_numbers_and_months_are_searched_for() -> None:
    assert len(query_terms("monday 204 march")) == 3


@pytest.mark.parametrize("query", ["", "   ", "?!", "—"])
def test_a_query_without_words_has_none(query: str) -> None:
    assert query_terms(query) == ()


def test_scripts_without_spaces_are_found_by_a_part() -> None:
    assert set(query_terms("会議")) <= set(index_words("会議は来週の木曜日"))
