// The alert rules and the dashboard in config/ name only metrics, labels and values that exist.
import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'yaml'
import { root } from '../../src/config.js'
import { prepareHome } from '../../src/home.js'
import { metricsText, registry } from '../../src/server/metrics.js'
import { testApp } from '../helpers/app.js'
import t from '../helpers/tap.js'

const app = await testApp(t)
prepareHome()
await app.as(await app.make.user()).get('/projects')
const { text } = await metricsText()

const file = (name: string) => readFileSync(join(root, name), 'utf8')

interface Rule {
  readonly alert: string
  readonly expr: string
  readonly labels: { readonly severity: string }
  readonly annotations: { readonly summary: string; readonly action: string }
}
const { groups } = parse(file('config/prometheus-alerts.yaml')) as { groups: { rules: Rule[] }[] }
const rules = groups.flatMap(group => group.rules)

interface Panel {
  readonly title: string
  readonly targets: readonly { readonly expr: string }[]
}
const { panels } = JSON.parse(file('config/grafana-dashboard.json')) as { panels: Panel[] }

/** What Prometheus adds to all series. */
const ADDED = ['job', 'instance', 'le']

/** Returns what an expression names that does not exist. */
function faultsIn(expr: string): string[] {
  const selectors = [...expr.matchAll(/\b(up|(?:gitstead|process|nodejs)_\w+)\b(?:\{([^}]*)\})?/g)]
  if (selectors.length === 0) return [`no metric in ${expr}`]
  const known = selectors.map(([, name = '', matchers = '']) => ({ name, matchers, labels: labelsOf(name) }))
  const faults = known.flatMap(({ name, matchers, labels }) => {
    if (labels === undefined) return [`no metric ${name}`]
    return [...matchers.matchAll(/(\w+)(=~|!=|=)"([^"]*)"/g)].flatMap(([, label = '', operator, value = '']) => {
      if (!labels.includes(label)) return [`${name} has no label ${label}`]
      if (operator === '=~' && /^[\w|]+$/.test(value))
        return value.split('|').flatMap(each => missing(name, label, each))
      return operator === '=~' ? [] : missing(name, label, value)
    })
  })
  const grouped = [...expr.matchAll(/\bby \(([^)]*)\)/g)].flatMap(([, names = '']) => names.split(', '))
  const all = known.flatMap(({ labels }) => labels ?? [])
  return [...faults, ...grouped.filter(name => !all.includes(name)).map(name => `no metric has the label ${name}`)]
}

/** The labels of a metric; undefined when there is none. */
function labelsOf(name: string): readonly string[] | undefined {
  if (name === 'up') return ADDED
  const metric = registry.getSingleMetric(name) ?? registry.getSingleMetric(name.replace(/_(bucket|count|sum)$/, ''))
  return metric && [...ADDED, ...(metric as unknown as { labelNames: string[] }).labelNames]
}

const missing = (name: string, label: string, value: string): string[] =>
  ADDED.includes(label) || new RegExp(`^${name}\\{[^}]*${label}="${value}"`, 'm').test(text)
    ? []
    : [`${name} never has ${label}="${value}"`]

t.test('alert rules name what exists, and say what to do', async t => {
  t.ok(rules.length > 10)
  for (const { alert, expr, labels, annotations } of rules) {
    t.same(faultsIn(expr), [], alert)
    t.match(labels.severity, /^(critical|warning|info)$/, alert)
    const pages = [...annotations.action.matchAll(/docs\/[\w/.-]+\.md/g)].map(([page]) => page)
    t.same(
      pages.filter(page => !existsSync(join(root, page))),
      [],
      alert
    )
    const named = [...annotations.summary.matchAll(/\$labels\.(\w+)/g)].map(([, name]) => name ?? '')
    const kept = [...expr.matchAll(/\bby \(([^)]*)\)/g)].flatMap(([, names = '']) => names.split(', '))
    t.same(
      named.filter(name => !kept.includes(name) && /\b(min|max|sum|count)\b/.test(expr)),
      [],
      `${alert} keeps its labels`
    )
  }
})

t.test('the dashboard names what exists', async t => {
  for (const { title, targets } of panels) {
    for (const { expr } of targets) t.same(faultsIn(expr.replaceAll('job=~"$job"', '')), [], title)
  }
})

t.test('the check finds names that do not exist', async t => {
  t.same(faultsIn('max(gitstead_no_such) > 0'), ['no metric gitstead_no_such'])
  t.same(faultsIn('gitstead_jobs{status="dead"}'), ['gitstead_jobs has no label status'])
  t.same(faultsIn('gitstead_jobs{state="gone"}'), ['gitstead_jobs never has state="gone"'])
  t.same(faultsIn('max by (door) (gitstead_jobs)'), ['no metric has the label door'])
  t.same(faultsIn('1 > 0'), ['no metric in 1 > 0'])
})

t.test('promtool accepts the rules, and they fire as expected', async t => {
  if (spawnSync('promtool', ['--version']).error) return t.comment('promtool is not installed (Debian: prometheus)')
  const check = spawnSync('promtool', ['check', 'rules', join(root, 'config/prometheus-alerts.yaml')], {
    encoding: 'utf8'
  })
  t.equal(check.status, 0, check.stderr)
  const fired = spawnSync('promtool', ['test', 'rules', join(root, 'test/server/alerts.promtool.yaml')], {
    encoding: 'utf8'
  })
  t.equal(fired.status, 0, fired.stdout + fired.stderr)
})
