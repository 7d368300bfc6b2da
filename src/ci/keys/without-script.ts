// What a job without a script may have: one that starts a pipeline, or follows one.
import { given, reportAt, type Section } from '../config-values.js'
import { keyText, type Yaml } from '../load-yaml.js'

const KEYS = [
  ...['trigger', 'stage', 'type', 'variables', 'allow_failure', 'when', 'only', 'except', 'rules', 'needs', 'parallel'],
  ...['dependencies', 'resource_group', 'interruptible', 'inherit', 'retry']
]

/** Reports what cannot stand beside `key`, or beside the sort of it that `kind` names, such as `of a whole pipeline`. */
export function checkWithoutScript(job: Section, key: 'trigger' | 'needs', kind = ''): void {
  for (const name of [...job.entries.keys()].map(keyText)) {
    if (!KEYS.includes(name)) reportAt(job, name, `cannot stand together with ${`${key} ${kind}`.trim()}`)
  }
  if ([given(job, 'when'), ...whensOf(given(job, 'rules'))].includes('delayed')) {
    reportAt(job, key, `${kind} cannot stand together with \`when: delayed\``.trim())
  }
}

/** The `when` of each rule. */
const whensOf = (rules: Yaml | undefined): (Yaml | undefined)[] =>
  Array.isArray(rules) ? rules.flat(1).map(rule => (rule instanceof Map ? rule.get('when') : undefined)) : []
