/** The service's own rules, as it tells them: which command a state takes, which states are at rest. */

const response = await fetch(new URL("console/vocabulary.json", document.baseURI));

export const vocabulary = await response.json();

export const takes = (state, command) => vocabulary.takes[state]?.includes(command) ?? false;
