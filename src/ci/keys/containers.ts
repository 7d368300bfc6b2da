// Reads `image` and `services`, for runners that start containers.
import type { CiContainer, CiImage } from '../config-types.js'
import {
  checkKeys,
  given,
  NAME_LIMIT,
  nameProblem,
  pathOf,
  readList,
  readSection,
  readText,
  readVariables,
  reportAt,
  type Section
} from '../config-values.js'

/** The image of the job; null when none is given. */
export function readImage(section: Section): CiImage | null {
  if (!(given(section, 'image') instanceof Map)) return readText(section, 'image', NAME_LIMIT)
  const image = readSection(section, 'image')
  if (!image) return null
  checkKeys(image, ['name', 'entrypoint'], [], ['docker', 'kubernetes', 'pull_policy'])
  return containerOf(image)
}

/** The additional containers of the job. */
export function readServices(section: Section): CiImage[] {
  const value = given(section, 'services')
  if (!Array.isArray(value) || !value.some(entry => entry instanceof Map)) {
    return readList(section, 'services', { check: nameProblem }) ?? []
  }
  return value.flatMap((entry, at): CiImage[] => {
    const path = pathOf(section, `services:${at + 1}`)
    if (!(entry instanceof Map)) {
      const one = { ...section, entries: new Map([['services', [entry]]]) }
      return readList(one, 'services', { check: nameProblem }) ?? []
    }
    const service = { ...section, path, entries: entry }
    checkKeys(
      service,
      ['name', 'alias', 'entrypoint', 'command', 'variables'],
      [],
      ['docker', 'kubernetes', 'pull_policy']
    )
    const container = containerOf(service)
    return container ? [container] : []
  })
}

function containerOf(section: Section): CiContainer | null {
  if (given(section, 'name') === undefined) reportAt(section, 'name', 'is missing')
  const name = readText(section, 'name', NAME_LIMIT)
  const words = (key: string) => readList(section, key, { check: wordProblem }) ?? null
  const container = { alias: readText(section, 'alias', NAME_LIMIT), entrypoint: words('entrypoint') }
  return name === null ? null : { name, ...container, command: words('command'), variables: readVariables(section) }
}

const WORD_LIMIT = 4096
const wordProblem = (word: string) => (word.length > WORD_LIMIT ? `is longer than ${WORD_LIMIT} characters` : undefined)
