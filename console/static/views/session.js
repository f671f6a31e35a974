/** One session, from what was shown to what came of it, with the commands it takes now. */

import { announce, facts, h, outside, Section, time } from "../dom.js";
import { actions } from "../parts/actions.js";
import { titleOf } from "../parts/cards.js";
import { checkpointProgress } from "../parts/checkpoints.js";
import { ladder, unprovedList } from "../parts/checks.js";
import { copyable } from "../parts/copyable.js";
import { drafted, lint, meaning } from "../parts/draft.js";
import { workflowGraph } from "../parts/workflow_graph.js";
import { improvedSkill, parameterList, wordedBy } from "../parts/drafting.js";
import { installSteps } from "../parts/install.js";
import { phases, pill, statePill } from "../parts/marks.js";
import { membershipList, Memberships } from "../parts/memberships.js";
import { portability } from "../parts/portability.js";
import { practiceRun } from "../parts/practice.js";
import { captured, receiptList } from "../parts/records.js";
import { earlierDrafts } from "../parts/rounds.js";
import { answeredQuestions, openQuestions } from "../parts/questions.js";
import { SessionData } from "../session_data.js";
import { MODES, LIFTED, NEXT_COMMAND, STATES, waitsFor } from "../wording.js";

/** The cards of the page, in order: what each needs of the data, when it is there, and what it shows. */
const CARDS = [
  {
    title: "Questions",
    of: ({ session, detail }) => ({ session: brief(session), open: session.state === "awaiting_questions" ? open(detail) : [] }),
    when: ({ open: asked }) => asked.length > 0,
    build: ({ session, open: asked }) => openQuestions(session, asked),
  },
  {
    title: "What was understood",
    of: ({ detail }) => detail && { title: detail.proposal.title, meaning: detail.interpretation, phrases: detail.proposal.trigger_phrases, negative: detail.proposal.negative_triggers, untested: detail.untested, alsoTested: detail.also_tested, because: detail.untested_because, hollow: detail.hollow_conditions, leftOut: detail.left_out },
    when: (data) => data?.meaning,
    build: meaning,
  },
  {
    title: "Parameters",
    of: ({ detail }) => detail?.interpretation?.parameters ?? [],
    when: (parameters) => parameters.length > 0,
    build: parameterList,
  },
  {
    title: "What it improves",
    of: ({ detail }) => detail?.proposal.base && { base: detail.proposal.base, standing: detail.base },
    when: Boolean,
    build: improvedSkill,
  },
  {
    title: "How it was drafted",
    of: ({ detail, dependencies }) => detail && { by: detail.proposal.drafted_by, note: detail.proposal.drafter_note, traces: detail.proposal.source_trace_ids.length, dependencies },
    when: Boolean,
    build: wordedBy,
  },
  {
    title: "Where it can be used",
    of: ({ detail }) => detail?.portability && { proposalId: detail.proposal.proposal_id, portability: detail.portability },
    when: Boolean,
    build: portability,
  },
  {
    title: "Practice",
    of: ({ session, practice }) => session.entry_mode === "autonomous_agent_practice" && { practice },
    when: Boolean,
    build: ({ practice }) => practiceRun(practice),
  },
  {
    title: "Lint findings",
    of: ({ detail }) => detail?.checkpoint_lint_report?.findings ?? [],
    when: (findings) => findings.length > 0,
    build: lint,
  },
  {
    title: "Checkpoint Progress",
    of: ({ checkpoints }) => checkpoints,
    when: (checkpoints) => checkpoints.length > 0,
    build: checkpointProgress,
  },
  {
    title: "Validation",
    of: ({ run, steps, session }) => run && { run, steps, running: session.state === "testing_proposal" },
    when: Boolean,
    build: ({ run, steps, running }) => ladder(run, steps, running),
  },
  { title: "Not proved here", of: ({ detail }) => detail?.unproved ?? [], when: (steps) => steps.length > 0, build: unprovedList },
  { title: "Install", of: ({ saga }) => saga, when: Boolean, build: installSteps },
  {
    title: "Drafted files",
    of: ({ files, detail }) => ({ files, hash: detail?.proposal.content_hash, revision: detail?.proposal.revision }),
    when: ({ files }) => files.length > 0,
    build: drafted,
  },
  { title: "Workflow", of: ({ graph }) => graph, when: Boolean, build: workflowGraph },
  {
    title: "Earlier drafts",
    of: ({ rounds, session }) => ({ proposalId: session.proposal_id, rounds }),
    when: ({ rounds }) => rounds.length > 0,
    build: earlierDrafts,
  },
  { title: "Categories", of: ({ categories }) => categories, when: Boolean, build: (shown, { memberships }) => membershipList(shown, memberships) },
  {
    title: "Answers",
    of: ({ detail }) => detail?.questions.filter((one) => one.answered) ?? [],
    when: (answered) => answered.length > 0,
    build: answeredQuestions,
  },
  {
    title: "What was captured",
    of: ({ session, observed, scope }) => ({ session: brief(session), observed, dropped: scope.off_target_events_dropped }),
    when: Boolean,
    build: ({ session, observed, dropped }, { pages }) => [captured({ observed, dropped }), pages.observations.buttons(observed), observed.total > 0 && actions(session, { observed, only: ["trim"], place: "captured" })],
  },
  { title: "Receipts", of: ({ receipts }) => receipts, when: ({ total }) => total > 0, build: (shown, { pages }) => [receiptList(shown.receipts), pages.receipts.buttons(shown)] },
];

const open = (detail) => detail?.questions.filter((one) => !one.answered) ?? [];

/** What a command needs to know of a session; it does not change with every event. */
const brief = ({ learn_session_id, proposal_id, state, allowed_actions, refused_actions }) => ({ learn_session_id, proposal_id, state, allowed_actions, refused_actions });

export function sessionView(page, id) {
  const { heading, signal } = page;
  const data = new SessionData(id, page);
  const head = new Section({ class: "section session-head" });
  const cards = CARDS.map((card) => ({ ...card, section: new Section() }));
  let state = null;
  let memberships = null;
  return async () => {
    const all = await data.read();
    if (all.detail) {
      memberships ??= new Memberships(["proposal"], all.session.proposal_id, page);
      all.categories = await memberships.read();
    }
    if (signal.aborted) return null;
    heading.textContent = titleOf(all.session, all.detail?.proposal.title);
    document.title = `${heading.textContent} · Ability Learning`;
    head.show(ofHead(all), buildHead);
    for (const { section, title, of, when, build } of cards) {
      const wanted = of(all);
      section.show(when(wanted) ? wanted : null, (shown) => shown && titled(title, build(shown, { memberships, pages: data.pages })));
    }
    if (state && state !== all.session.state) announce(`The session is now: ${STATES[all.session.state]?.label ?? all.session.state}`);
    state = all.session.state;
    return head.element.isConnected ? null : [head.element, ...cards.map(({ section }) => section.element)];
  };
}

const ofHead = ({ session, detail, installing, links }) => ({
  session: { ...brief(session), entry_mode: session.entry_mode, ability_id: session.ability_id, created_at: session.created_at, quarantine_lifted: session.quarantine_lifted },
  detail: detail && { proposal: detail.proposal, unproved: detail.unproved, unproved_digest: detail.unproved_digest },
  installing,
  links,
});

function buildHead({ session, detail, installing, links }) {
  const shown = session.entry_mode !== "autonomous_agent_practice" || !["armed", "capturing"].includes(session.state);
  const command = shown && NEXT_COMMAND[session.state]?.(session.learn_session_id);
  const unproved = session.state === "ready_for_review" && detail?.unproved.length > 0;
  const rested = unproved ? "Not all of it could be proved here. Waits for your decision." : waitsFor(session);
  const waits = installing ? "It is being installed; the steps are below." : rested;
  return h(
    "section",
    { class: "card", "aria-label": "Where it stands" },
    phases(session),
    h("div", { class: "where-it-stands" }, session.quarantine_lifted ? pill(...LIFTED) : statePill(session.state), h("p", {}, waits)),
    actions(session, { detail }),
    command && h("div", { class: "or-type" }, h("span", { class: "label" }, "In a terminal"), copyable(command)),
    facts([
      ["How", MODES[session.entry_mode] ?? session.entry_mode],
      ["Begun", time(session.created_at)],
      ["Ability", session.ability_id && (session.state === "approved" || session.quarantine_lifted) ? h("a", { href: `#/skills/${encodeURIComponent(session.ability_id)}` }, session.ability_id) : session.ability_id],
      ["Session", copyable(session.learn_session_id, "session id")],
      ["Temporal UI", links.length > 0 && h("span", { class: "links" }, links.map(([name, address]) => outside(address, name)))],
    ]),
  );
}

function titled(title, content) {
  const id = `card-${title.toLowerCase().replaceAll(" ", "-")}`;
  return h("section", { class: "card", "aria-labelledby": id }, h("h2", { id }, title), content);
}
