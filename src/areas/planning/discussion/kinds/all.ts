import type { NoteableKind, NoteableType } from '../noteables.js'
import { issueKind } from './issues.js'
import { mergeRequestKind } from './merge-requests.js'
import { snippetKind } from './snippets.js'

export const NOTEABLE_KINDS: readonly NoteableKind[] = [issueKind, mergeRequestKind, snippetKind]

export const kindOf = (type: NoteableType): NoteableKind | undefined => NOTEABLE_KINDS.find(kind => kind.type === type)
