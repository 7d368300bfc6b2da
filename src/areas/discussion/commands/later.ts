// Commands that an area above runs, when the note is written: a note makes the to-dos of its author done, but `/todo` adds one.

export type LaterCommand = 'todo' | 'done'

/** The user, and what the note is about. */
export interface LaterSubject {
  readonly type: 'Issue' | 'MergeRequest'
  readonly id: number
  readonly userId: number
}

export interface LaterCommands {
  /** Whether the command changes anything. Decided: those that do not apply stay in the text. */
  readonly applies: (name: LaterCommand, subject: LaterSubject) => Promise<boolean>
  readonly run: (name: LaterCommand, subject: LaterSubject & { readonly projectId: number }) => Promise<void>
}

let commands: LaterCommands | undefined

/** Says how these commands run. */
export const setLaterCommands = (how: LaterCommands): void => {
  commands = how
}

export const appliesNow: LaterCommands['applies'] = async (name, subject) =>
  (await commands?.applies(name, subject)) ?? false

export const runLater: LaterCommands['run'] = async (name, subject) => commands?.run(name, subject)
