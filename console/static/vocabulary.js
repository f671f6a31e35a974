/** The service's own rules, as it tells them: which states are at rest, which are pending, what is checked. */

const response = await fetch(new URL("console/vocabulary.json", document.baseURI));

export const vocabulary = await response.json();
