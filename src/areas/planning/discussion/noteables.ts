// The targets of notes. Notes and awards know each kind of target only by a row here; kinds/ contains the rows.
import type { Actor } from '../../../access/actor.js'
import type { ProjectRow } from '../../projects/projects/projects.queries.js'

export type NoteableType = 'Issue' | 'MergeRequest' | 'Snippet'

/** Something that the caller may read, with what notes about it need. */
export interface Noteable {
  readonly type: NoteableType
  readonly id: number
  readonly authorId: number
  /** Whether only some of the users who see the project may see it: only hooks with a flag for this get events about it. */
  readonly confidential: boolean
}

export interface NoteableKind {
  readonly type: NoteableType
  /** The part of the path, such as `issues`, and the name of the parameter after it. */
  readonly segment: string
  readonly param: string
  /** The words for it in descriptions: `an issue`. */
  readonly words: string
  /** Returns the record that the path names, if the caller may read it. */
  readonly find: (project: ProjectRow, id: number, actor: Actor) => Promise<Noteable | undefined>
  /** Returns its title for the feed; undefined when it no longer exists. */
  readonly title: (id: number) => Promise<string | undefined>
  /** Returns the path of its page below the page of the project, such as `issues/1`. */
  readonly page: (id: number) => Promise<string>
  /** Returns the fields that payloads of hooks contain in addition to the note; undefined when it no longer exists. */
  readonly payload: (id: number) => Promise<object | undefined>
}
