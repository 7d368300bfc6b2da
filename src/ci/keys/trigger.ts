// Reads `trigger`: a job that starts a pipeline instead of a script, in another project or from another file.
import type { CiInclude, CiTrigger } from '../config-types.js'
import {
  checkKeys,
  given,
  kindOf,
  pathOf,
  readChoice,
  readFlag,
  readList,
  readSection,
  readText,
  reportAt,
  type Section
} from '../config-values.js'
import { isReference, keyText, type Yaml, type YamlMapping } from '../load-yaml.js'
import { checkWithoutScript } from './without-script.js'

const PATH_LIMIT = 255
/** The most files of a child pipeline. */
const MOST_INCLUDES = 3
/** Keys of such a file whose values are texts. */
const TEXTS = ['local', 'project', 'ref', 'remote', 'template', 'component']
/** The most characters of the inputs of a file as JSON, which are stored with the build. */
const INPUTS_LIMIT = 16_384

/** Returns the pipeline that the job starts; null for a job with a script. */
export function readTrigger(job: Section): CiTrigger | null {
  const value = given(job, 'trigger')
  if (value === undefined) return null
  checkWithoutScript(job, 'trigger')
  if (!(value instanceof Map)) {
    const project = readText(job, 'trigger', PATH_LIMIT)
    return { ...PLAIN, project }
  }
  const trigger = readSection(job, 'trigger')
  if (!trigger) return null
  checkKeys(trigger, ['project', 'branch', 'include', 'strategy', 'forward'], ['inputs'])
  const forward = readSection(trigger, 'forward')
  if (forward) checkKeys(forward, ['yaml_variables', 'pipeline_variables'], [])
  const read = {
    project: readText(trigger, 'project', PATH_LIMIT),
    branch: readText(trigger, 'branch', PATH_LIMIT),
    include: readIncludes(trigger),
    awaited: given(trigger, 'strategy') !== undefined,
    forwardsOwn: !forward || given(forward, 'yaml_variables') === undefined || readFlag(forward, 'yaml_variables'),
    forwardsGiven: Boolean(forward && readFlag(forward, 'pipeline_variables'))
  }
  if (read.awaited) readChoice(trigger, 'strategy', ['depend', 'mirror'] as const, 'depend')
  if ((read.project === null) === (read.include === null)) {
    reportAt(job, 'trigger', 'should have either a project or files in `include`')
  }
  if (read.branch !== null && read.project === null) reportAt(trigger, 'branch', 'needs a project')
  return read
}

const PLAIN: CiTrigger = {
  ...{ project: null, branch: null, include: null, awaited: false, forwardsOwn: true, forwardsGiven: false }
}

/** Reads the files of a child pipeline. Their content is checked when the pipeline is created. */
function readIncludes(trigger: Section): CiInclude[] | null {
  const value = given(trigger, 'include')
  if (value === undefined) return null
  const entries = Array.isArray(value) ? value : [value]
  if (entries.length === 0 || entries.length > MOST_INCLUDES) {
    reportAt(trigger, 'include', `should be one to ${MOST_INCLUDES} files`)
  }
  return entries.slice(0, MOST_INCLUDES).flatMap((entry, at): CiInclude[] => {
    if (typeof entry === 'string') return [{ local: entry }]
    const path = pathOf(trigger, `include:${at + 1}`)
    if (!(entry instanceof Map)) {
      trigger.report(path, `should be a path or a mapping, not ${kindOf(entry)}`)
      return []
    }
    const include = { ...trigger, path, entries: entry }
    checkKeys(include, [...TEXTS, 'file', 'inputs'], ['artifact', 'job'])
    const texts = TEXTS.flatMap(key => {
      const text = readText(include, key, key === 'remote' ? 2048 : PATH_LIMIT)
      return text === null ? [] : [[key, text] as const]
    })
    const files = readList(include, 'file', { single: true })
    const inputs = readInputs(include)
    return [{ ...Object.fromEntries(texts), ...(files && { file: files }), ...(inputs && { inputs }) }]
  })
}

function readInputs(include: Section): CiInclude['inputs'] {
  const inputs = readSection(include, 'inputs')
  if (!inputs) return undefined
  const values = plainMapping(inputs.entries)
  if (JSON.stringify(values).length <= INPUTS_LIMIT) return values
  reportAt(include, 'inputs', `take more than ${INPUTS_LIMIT} characters`)
  return undefined
}

const plainMapping = (value: YamlMapping) =>
  Object.fromEntries([...value].map(([key, each]) => [keyText(key), plainValue(each)]))

function plainValue(value: Yaml): unknown {
  if (Array.isArray(value)) return value.map(plainValue)
  if (value instanceof Map) return plainMapping(value)
  if (value === null || typeof value !== 'object' || isReference(value)) return value
  const number = Number(value.number)
  return Number.isFinite(number) ? number : value.number
}
