// The names of emoji that users award (templates/emoji/names.txt documents their source).
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from '../../../config.js'

let known: ReadonlyMap<string, string> | undefined

/** Returns the main name of an emoji from any of its names; undefined when there is no such emoji. */
export function emojiName(name: string): string | undefined {
  known ??= read()
  return known.get(name)
}

function read(): ReadonlyMap<string, string> {
  const lines = readFileSync(join(root, 'templates/emoji/names.txt'), 'utf8').split('\n')
  return new Map(
    lines
      .filter(line => line !== '' && !line.startsWith('#'))
      .flatMap(line => {
        const [first = '', ...others] = line.split(' ')
        return [first, ...others].map(name => [name, first] as const)
      })
  )
}

/** Returns the emoji of a text that contains nothing else, such as `:tada:`; undefined for other texts. */
export function emojiOf(text: string): string | undefined {
  const name = /^\s{0,20}:([a-z0-9_+-]{1,64}):\s{0,20}$/.exec(text)?.[1]
  return name === undefined ? undefined : emojiName(name)
}
