import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { gitWith, treeOfTrees } from '../helpers/trees.js'
import { until } from '../helpers/until.js'
import { git } from '../scenarios/client.js'
import type { Attack, Stand } from './support/attack.js'
import { BUILD_LIMITS } from './support/stand.js'

/** Adds shared memory in steps of 8 MiB, up to 4 GiB, and unmaps each step at once: no process keeps it in its memory. */
const HIDDEN = `perl -e 'my $arm = \`uname -m\` =~ /aarch64/; for (1 .. 512) {
  my $at = syscall($arm ? 222 : 9, 0, 8 << 20, 3, 0x21, -1, 0); open(my $zero, "<", "/dev/zero");
  syscall($arm ? 63 : 0, fileno($zero), $at, 8 << 20); syscall($arm ? 233 : 28, $at, 8 << 20, 4) }; sleep 60'`

/** What each build does, and how its trace ends. Each is bounded, in case nothing stops it. */
const BUILDS: { readonly [name: string]: readonly [script: string, ending: RegExp] } = {
  'fork-bomb': ["bash -c ':(){ :|:& };:'; sleep 60", /longer than \d+ seconds|Resource temporarily unavailable/],
  'many-processes': [`for i in {1..20}; do perl -e '$x = "a" x 100_000_000; sleep 60' & done; wait`, /memory together/],
  'shared-memory': [HIDDEN, /memory together/],
  'memory-files': ['head -c 250m /dev/zero >/tmp/x; head -c 250m /dev/zero >/dev/shm/x; sleep 60', /memory together/],
  'large-files': ['for i in {1..40}; do head -c 100m /dev/zero >$i; done; sleep 60', /of the disk/],
  'open-files': ['exec 7>x; rm x; head -c 1000m /dev/zero >&7; sleep 60', /of the disk/],
  'many-files': [`perl -e 'open(F, ">", $_) for 1 .. 2_000_000'; sleep 60`, /of the disk|longer than \d+ seconds/],
  'endless-trace': ['yes', /output is longer than/],
  'stopped-first-process': [`kill -STOP 1; kill -TSTP 1; echo still here; exit 3`, /still here/]
}

export const attack: Attack = {
  name: 'hostile-builds',
  about: 'builds fork without end, fill memory, shared memory, the disk and the trace, and check out 10^10 files',
  // Two builds run at once, each at most a quarter above its limit. The rest is for the worker, and for a machine so busy that
  // the next check of a build comes late.
  limit: { memory: 2.5 * BUILD_LIMITS.memory + 384, seconds: 120, statuses: [200] },
  run: async stand => {
    const scripts = await buildsOf(stand)
    const tree = await hugeTree(stand)
    return [...scripts, ...tree]
  }
}

async function buildsOf(stand: Stand): Promise<number[]> {
  const { id, remote } = await stand.project()
  const folder = stand.folder()
  const jobs = Object.entries(BUILDS).map(([name, [script]]) => `${name}:\n  script: ${JSON.stringify(script)}\n`)
  writeFileSync(join(folder, '.gitstead-ci.yml'), jobs.join(''))
  for (const args of [
    ['init', '--quiet', '-b', 'master'],
    ['add', '.'],
    ['commit', '--quiet', '-m', 'builds']
  ]) {
    gitWith(folder, args)
  }
  await git(folder, ['push', '--quiet', remote, 'master'])
  const { status, builds } = await ended(stand, id, Object.keys(BUILDS).length)
  const statuses = [status]
  for (const build of builds) {
    const trace = await stand.ask('GET', `/projects/${id}/builds/${build.id}/trace`)
    const text = trace.bytes.toString()
    statuses.push(trace.status)
    const expected = BUILDS[build.name]?.[1]
    if (build.status !== 'failed' || !expected?.test(text)) {
      throw new Error(`${build.name} is ${build.status}, and its trace ends with ${text.slice(-300)}`)
    }
  }
  return statuses
}

async function hugeTree(stand: Stand): Promise<number[]> {
  const { id, remote } = await stand.project()
  const folder = stand.folder()
  const bomb = await treeOfTrees(folder, 10, 10)
  const file = gitWith(folder, ['hash-object', '-w', '--stdin'], 'test:\n  script: echo ran\n')
  const entries = `${gitWith(folder, ['ls-tree', bomb])}\n100644 blob ${file}\t.gitstead-ci.yml\n`
  const commit = gitWith(folder, ['commit-tree', '-m', 'bomb', gitWith(folder, ['mktree'], entries)])
  await git(folder, ['push', '--quiet', remote, `${commit}:refs/heads/master`])
  const { status, builds } = await ended(stand, id, 1)
  if (builds[0]?.status !== 'failed') throw new Error(`the checkout of 10^10 files is ${builds[0]?.status}`)
  return [status]
}

interface EndedBuild {
  readonly id: number
  readonly name: string
  readonly status: string
}

const ended = (stand: Stand, project: number, count: number) =>
  until('all builds have ended', async () => {
    await sleep(200)
    const { status, json } = await stand.ask<EndedBuild[]>('GET', `/projects/${project}/builds?per_page=100`)
    const open = json.some(build => ['created', 'pending', 'running'].includes(build.status))
    return json.length === count && !open ? { status, builds: json } : undefined
  })
