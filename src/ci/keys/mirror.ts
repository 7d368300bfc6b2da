// Reads a need of a whole pipeline: a job without a script that copies the status of the newest pipeline of a project.
import { checkKeys, given, pathOf, readText, reportAt, type Section } from '../config-values.js'
import type { Yaml, YamlMapping } from '../load-yaml.js'
import { checkWithoutScript } from './without-script.js'

const asksForPipeline = (entry: Yaml): entry is YamlMapping =>
  entry instanceof Map && entry.has('pipeline') && !entry.has('job') && !entry.has('project')

/** The entries of `needs` of a job. A need of a whole pipeline may be written without a list. */
export function needEntries(section: Section): Yaml | undefined {
  const value = given(section, 'needs')
  return value !== undefined && asksForPipeline(value) ? [value] : value
}

/** Whether the entry is a need of a whole pipeline, in a job without a script. */
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
  // A wrong value has been reported.
  return readText(need, 'pipeline', 255) ?? ''
}
