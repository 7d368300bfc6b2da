// What people write notes about. Notes and awards know nothing of issues but a row here; the kinds are filled in kinds/.
import type { Actor } from '../../../access/actor.js'
import type { ProjectRow } from '../../projects/projects/projects.queries.js'

export type NoteableType = 'Issue' | 'MergeRequest' | 'Snippet'

/** Something that the asker may read, with what notes about it need. */
export interface Noteable {
  readonly type: NoteableType
  readonly id: number
  readonly authorId: number
  /** Whether only some of those see it who see its project: hooks without a flag hear nothing of it. */
  readonly confidential: boolean
}

export interface NoteableKind {
  readonly type: NoteableType
  /** The part of the path, such as `issues`, and the name of the parameter after it. */
  readonly segment: string
  readonly param: string
  /** What descriptions call it: `an issue`. */
  readonly words: string
  /** Returns what the path names, when the asker may read it. */
  readonly find: (project: ProjectRow, id: number, actor: Actor) => Promise<Noteable | undefined>
  /** Returns its title for the feed; undefined when it is gone. */
  readonly title: (id: number) => Promise<string | undefined>
  /** Returns its page below that of the project, such as `issues/1`. */
  readonly page: (id: number) => Promise<string>
  /** Returns the fields that payloads of hooks have beside the note; undefined when it is gone. */
  readonly payload: (id: number) => Promise<object | undefined>
}
