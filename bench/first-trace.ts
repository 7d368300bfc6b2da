// Measures the time from the acceptance of a push to the first line of its build's trace.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { row } from '../src/db/connect/sql.js'
import { type Prepared, withAppliance } from './lib/appliance.js'
import { temporaryFolder } from './lib/clean-up.js'
import { countCost } from './lib/cost.js'
import { median, percentile, report } from './lib/figure.js'
import { authorization, runGit } from './lib/git.js'
import { createProject } from './lib/rest.js'

const PUSHES = 12
const CI_FILE = 'job:\n  script:\n    - echo hello\n'

interface Moments {
  readonly accepted: number
  /** The times of the first line of the trace, and of the first line that the script itself wrote. */
  readonly first: number
  readonly script: number
}

/** Reads the file of the trace every millisecond. */
async function watchTrace(home: string, build: number): Promise<{ first: number; script: number }> {
  const path = join(home, 'traces', String(Math.floor(build / 1000)), `${build}-1.log`)
  let first = 0
  for (;;) {
    const text = read(path)
    if (first === 0 && text.includes('\n')) first = Date.now()
    if (/^hello$/m.test(text)) return { first, script: Date.now() }
    await sleep(1)
  }
}

function read(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}

async function pushOnce(appliance: Prepared, clone: string, url: string, build: number): Promise<Moments> {
  const { admin, home } = appliance
  writeFileSync(join(clone, 'file'), `${build}\n`)
  await runGit(['-C', clone, 'add', '.'])
  await runGit(['-C', clone, 'commit', '--quiet', '-m', `Change ${build}`])
  const [moments] = await Promise.all([
    watchTrace(home, build),
    runGit([...authorization(admin.username, admin.token), '-C', clone, 'push', '--quiet', url, 'master'])
  ])
  const change = await row<{ settled_at: Date }>('select settled_at from ref_changes order by id desc limit 1')
  while (await row("select 1 as busy from builds where status not in ('success') limit 1")) await sleep(20)
  return { ...moments, accepted: change?.settled_at.getTime() ?? 0 }
}

async function measure(appliance: Prepared): Promise<void> {
  const project = await createProject(appliance, 'built')
  const clone = join(temporaryFolder(), 'clone')
  mkdirSync(clone)
  await runGit(['init', '--quiet', '--initial-branch=master', clone])
  writeFileSync(join(clone, '.gitstead-ci.yml'), CI_FILE)
  const url = `${appliance.url}/${project.path_with_namespace}.git`
  const all: Moments[] = []
  const cost = countCost(appliance.parts)
  for (let build = 1; build <= PUSHES; build++) all.push(await pushOnce(appliance, clone, url, build))
  // The first push warms everything up.
  const warm = all.slice(1)
  const first = warm.map(moments => moments.first - moments.accepted)
  const script = warm.map(moments => moments.script - moments.accepted)
  report({
    name: "push accepted to build's first trace line",
    value: median(first),
    unit: 'ms p50',
    limit: 300,
    better: 'lower',
    detail: { worst_ms: percentile(first, 1), script_line_p50_ms: median(script), pushes: warm.length, ...cost(PUSHES) }
  })
}

await withAppliance({}, measure)
