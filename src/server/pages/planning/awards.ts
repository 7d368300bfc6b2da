// The emoji of a record or a note, as pages show them.
import type { Actor } from '../../../access/actor.js'
import { isOwnVote } from '../../../areas/planning/discussion/awards.js'
import type { AwardCount } from '../../../areas/planning/discussion/awards.queries.js'
import { emojiCharacters } from '../../../text/emoji.js'

/** The emoji to choose from. All others can be given by their names. */
const OFFERED =
  `thumbsup thumbsdown smile laughing heart tada eyes rocket white_check_mark x question exclamation bulb bug
  fire star clap pray wave ok_hand muscle thinking confused cry scream coffee hourglass lock wrench warning`.split(
    /\s+/
  )

interface ShownAward {
  readonly name: string
  readonly characters: string
  readonly count: number
  readonly mine: boolean
  readonly givers: string
  /** Whether the visitor may give it or take it back. */
  readonly isOpen: boolean
}

export interface Awards {
  readonly given: readonly ShownAward[]
  /** The characters of a vote for it, if the visitor may give it. */
  readonly vote: string | null
  /** Whether the visitor may give others. */
  readonly mayGive: boolean
}

const VOTE = 'thumbsup'

const charactersOf = (name: string) => emojiCharacters(name) ?? `:${name}:`

/** `authorId` is the author of the record; null when the visitor may not give anything. */
export function awardsShown(counts: readonly AwardCount[], authorId: number | null, { user }: Actor): Awards {
  const isOpen = (name: string) => authorId !== null && !isOwnVote(name, { authorId }, user?.id)
  return {
    given: counts.map(({ name, count, givers, mine }) => ({
      name,
      characters: charactersOf(name),
      count,
      mine: mine === 1,
      givers,
      isOpen: isOpen(name)
    })),
    vote: isOpen(VOTE) && counts.every(({ name }) => name !== VOTE) ? charactersOf(VOTE) : null,
    mayGive: authorId !== null
  }
}

/** What a visitor may choose for the record of an author. */
export const offeredEmoji = (authorId: number, { user }: Actor) =>
  OFFERED.filter(name => emojiCharacters(name) !== undefined && !isOwnVote(name, { authorId }, user?.id)).map(name => ({
    name,
    characters: charactersOf(name)
  }))
