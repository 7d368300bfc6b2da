// `gitstead __names KIND START [--seconds N] [--home HOME] [--to FOLDER]`: the names that a shell completes while somebody
// types. It is not an oclif command, because loading oclif takes longer than this whole program. It only reads, starts
// nothing, and prints nothing when it fails.
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import * as queries from '../areas/upkeep/maintenance/names.queries.js'
import { config, loadConfig } from '../config.js'
import { embeddedState } from '../db/embedded/embedded.js'
import { shownUrl } from '../webhooks/url.js'
import type { LiveNames } from './reference/live-names.js'

/** Milliseconds from the start of the process, for each second of --seconds: somebody waits for the completion. */
const LONGEST = 900
/** A shell may interpret other characters. */
const SAFE = /^[\w./@+-]+$/

interface Name {
  readonly name: string | number
  readonly about: string | null
}

const [kind = '', start = '', ...flags] = process.argv.slice(3)
const flag = (name: string) => {
  const at = flags.indexOf(name)
  return at === -1 || !flags[at + 1] ? undefined : flags[at + 1]
}

const longest = LONGEST * (Number(flag('--seconds') ?? 1) || 1)
setTimeout(() => process.exit(0), Math.max(0, longest - performance.now()))
process.stdout.on('error', () => process.exit(0))

try {
  const { home } = loadConfig({ home: flag('--home') })
  const found = kind === 'backups' ? backups(flag('--to') ?? join(home, 'backups')) : await records(kind as LiveNames)
  const { printable } = await import('./output/table.js')
  const lines = found
    .map(({ name, about }) => ({ name: String(name), about: printable(about ?? '').slice(0, 60) }))
    .filter(({ name }) => SAFE.test(name) && name.startsWith(start))
    .map(({ name, about }) => (about === '' ? name : `${name}\t${about}`))
  if (lines.length > 0) process.stdout.write(`${lines.join('\n')}\n`, () => process.exit(0))
  else process.exit(0)
} catch {
  process.exit(0)
}

function backups(folder: string): Name[] {
  const ids = readdirSync(folder).filter(name => /^\d{8}T\d{6}Z-[0-9a-f]{4}$/.test(name))
  return [...ids.sort().reverse().slice(0, 100), 'latest'].map(name => ({ name, about: null }))
}

async function records(of: LiveNames): Promise<Name[]> {
  // A key press must not start a database: while the private database is down, there are no names.
  if (config().database.url === null && !(await embeddedState()).up) return []
  if (of === 'users') return queries.namesOfUsers(start)
  if (of === 'projects') return queries.namesOfProjects(start)
  if (of === 'groups') return queries.namesOfGroups(start)
  if (of === 'namespaces') return queries.namesOfNamespaces(start)
  if (of === 'applications') return queries.namesOfApplications()
  if (of === 'sources') return queries.namesOfSources(start)
  if (of === 'broadcasts') return queries.namesOfBroadcasts()
  if (of === 'machines') return queries.namesOfMachines()
  if (of === 'jobs') return queries.namesOfJobs()
  if (of === 'builds') return queries.namesOfBuilds()
  if (of === 'endedBuilds') return queries.namesOfEndedBuilds()
  if (of === 'manualBuilds') return queries.namesOfManualBuilds()
  if (of === 'runningPipelines') return queries.namesOfRunningPipelines()
  if (of === 'endedPipelines') return queries.namesOfEndedPipelines()
  if (of === 'runners') return queries.namesOfRunners()
  if (of === 'schedules') return queries.namesOfSchedules()
  if (of === 'mirrors') return queries.namesOfMirrors()
  if (of !== 'hooks') return []
  return (await queries.namesOfHooks()).map(({ name, about }) => ({ name, about: shownUrl(about ?? '') }))
}
