// The emoji that users award and write (templates/emoji/names.txt documents their source).
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from '../config.js'

interface Emoji {
  /** The main name. */
  readonly name: string
  readonly characters: string
}

let known: ReadonlyMap<string, Emoji> | undefined

/** Returns the main name of an emoji from any of its names; undefined when there is no such emoji. */
export const emojiName = (name: string): string | undefined => find(name)?.name

/** Returns the characters of an emoji from any of its names; undefined when there is no such emoji. */
export const emojiCharacters = (name: string): string | undefined => find(name)?.characters

function find(name: string): Emoji | undefined {
  known ??= read()
  return known.get(name)
}

function read(): ReadonlyMap<string, Emoji> {
  const lines = readFileSync(join(root, 'templates/emoji/names.txt'), 'utf8').split('\n')
  return new Map(
    lines
      .filter(line => line !== '' && !line.startsWith('#'))
      .flatMap(line => {
        const [characters = '', name = '', ...others] = line.split(' ')
        const emoji = { name, characters }
        return [name, ...others].map(each => [each, emoji] as const)
      })
  )
}

/** Returns the emoji of a text that contains nothing else, such as `:tada:`; undefined for other texts. */
export function emojiOf(text: string): string | undefined {
  const name = /^\s{0,20}:([a-z0-9_+-]{1,64}):\s{0,20}$/.exec(text)?.[1]
  return name === undefined ? undefined : emojiName(name)
}
