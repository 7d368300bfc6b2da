// Checks the keys of a job without a script, which starts or follows a pipeline.
import { given, reportAt, type Section } from '../config-values.js'
import { keyText, type Yaml } from '../load-yaml.js'

const KEYS = [
  ...['trigger', 'stage', 'type', 'variables', 'allow_failure', 'when', 'only', 'except', 'rules', 'needs', 'parallel'],
  ...['dependencies', 'resource_group', 'interruptible', 'inherit', 'retry']
]

/** Reports keys that cannot be combined with `key`, or with the variant that `kind` names, such as `of a whole pipeline`. */
export function checkWithoutScript(job: Section, key: 'trigger' | 'needs', kind = ''): void {
  for (const name of [...job.entries.keys()].map(keyText)) {
    if (!KEYS.includes(name)) reportAt(job, name, `cannot be combined with ${`${key} ${kind}`.trim()}`)
  }
  if ([given(job, 'when'), ...whensOf(given(job, 'rules'))].includes('delayed')) {
    reportAt(job, key, `${kind} cannot be combined with \`when: delayed\``.trim())
  }
}

/** The `when` of each rule. */
const whensOf = (rules: Yaml | undefined): (Yaml | undefined)[] =>
  Array.isArray(rules) ? rules.flat(1).map(rule => (rule instanceof Map ? rule.get('when') : undefined)) : []
