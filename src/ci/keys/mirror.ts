// Reads a need of a whole pipeline: a job without a script that takes over the status of the newest pipeline of a project.
import { checkKeys, given, pathOf, readText, reportAt, type Section } from '../config-values.js'
import type { Yaml, YamlMapping } from '../load-yaml.js'
import { checkWithoutScript } from './without-script.js'

const asksForPipeline = (entry: Yaml): entry is YamlMapping =>
  entry instanceof Map && entry.has('pipeline') && !entry.has('job') && !entry.has('project')

/** The entries of `needs` of a job. One of a whole pipeline may stand there without a list. */
export function needEntries(section: Section): Yaml | undefined {
  const value = given(section, 'needs')
  return value !== undefined && asksForPipeline(value) ? [value] : value
}

/** Whether the job, and the entry of its needs, is of a whole pipeline. */
export const isMirror = (section: Section, entry: Yaml): entry is YamlMapping =>
  asksForPipeline(entry) && given(section, 'script') === undefined && given(section, 'trigger') === undefined

/** The path of the project whose newest pipeline the job follows; null when it follows none. */
export function readMirror(job: Section): string | null {
  const entries = needEntries(job)
  const [entry, another] = Array.isArray(entries) ? entries.filter(each => isMirror(job, each)) : []
  if (!entry) return null
  if (another) reportAt(job, 'needs', 'ask for more than one whole pipeline')
  checkWithoutScript(job, 'needs', 'of a whole pipeline')
  const need = { ...job, path: pathOf(job, 'needs'), entries: entry }
  checkKeys(need, ['pipeline'], [])
  // A wrong value is reported.
  return readText(need, 'pipeline', 255) ?? ''
}
