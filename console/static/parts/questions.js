/** The questions about a draft, and the form that answers them. */

import { command } from "../api.js";
import { announce, h } from "../dom.js";
import { identity } from "../identity.js";
import { live } from "../live.js";
import { plural } from "../wording.js";
import { onSubmit, reportIn } from "./busy.js";

const ANSWER_LIMIT = 2000;

export function openQuestions(session, questions) {
  const trouble = h("div", {});
  const submit = h("button", { type: "submit", class: "primary", disabled: !identity.may("learn") }, "Send answers");
  const form = h("form", { class: "questions", "aria-label": "Questions" }, questions.map(question), trouble, h("div", { class: "buttons" }, submit));
  const post = command("answers");
  const answer = async () => {
    const answers = questions
      .map((one) => ({ question_id: one.question_id, answer_text: form.elements[one.question_id].value.trim() }))
      .filter((one) => one.answer_text);
    if (!answers.length) {
      announce("No answer is filled in");
      form.elements[questions[0].question_id].focus();
      return;
    }
    const { remaining_questions: left } = await post(`learn/sessions/${session.learn_session_id}/answer-questions`, { answers });
    announce(left ? `Answered; ${plural(left, "question")} left` : "All questions are answered");
    await live.refresh();
  };
  onSubmit(form, submit, answer, reportIn(trouble));
  return form;
}

function question(one, index) {
  const input = h("textarea", { id: one.question_id, name: one.question_id, rows: 2, maxlength: ANSWER_LIMIT });
  const suggestionId = `suggestion-${index}`;
  const suggestion = one.suggestion && [
    h("p", { class: "suggestion", id: suggestionId }, h("span", { class: "label" }, "Suggestion"), one.suggestion),
    h("button", { type: "button", class: "plain", click: () => ((input.value = one.suggestion), input.focus()) }, "Use the suggestion"),
  ];
  if (suggestion) input.setAttribute("aria-describedby", suggestionId);
  return h("div", { class: "field" }, h("label", { for: one.question_id }, `${index + 1}. ${one.question_text}`), suggestion, input);
}

/** What was answered already. */
export function answeredQuestions(questions) {
  return h("dl", { class: "answers" }, questions.map((one) => h("div", {}, h("dt", {}, one.question_text), h("dd", {}, one.answer_text))));
}
