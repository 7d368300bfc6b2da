// Which arguments and flags are names of records. The completion script contains the names that change only with a new
// version; it gets all others from the appliance.

import { SETTING_NAMES } from '../../areas/ground/settings/settings.table.js'
import { tasks } from '../../areas/upkeep/maintenance/maintenance-tasks.js'
import { jobs, QUEUES } from '../../queue/jobs.js'
import type { CommandReference } from './commands.js'
import { LIVE_NAMES, type LiveNames } from './live-names.js'

/** Kinds of names. The key is a command with its argument or flag, or an argument or flag of any command. */
const KINDS: { readonly [place: string]: LiveNames | FixedNames } = {
  user: 'users',
  '--user': 'users',
  '--creator': 'users',
  'api --as': 'users',
  'audit list --actor': 'users',
  queue: 'queues',
  '--queue': 'queues',
  'jobs list --name': 'jobNames',
  task: 'tasks',
  'settings get name': 'settings',
  'settings set setting': 'settings',
  backup: 'backups',
  'restore --project': 'projects',
  project: 'projects',
  'projects create project': 'namespaces',
  group: 'groups',
  'groups create --owner': 'users',
  of: 'sources',
  '--namespace': 'namespaces',
  'oauth applications delete id': 'applications',
  'oauth grants revoke application': 'applications',
  'hooks show id': 'hooks',
  'hooks remove id': 'hooks',
  'hooks test id': 'hooks',
  'hooks deliveries id': 'hooks',
  'hooks delivery hook': 'hooks',
  '--hook': 'hooks',
  'broadcasts show id': 'broadcasts',
  'broadcasts update id': 'broadcasts',
  'broadcasts delete id': 'broadcasts',
  machine: 'machines',
  'jobs show id': 'jobs',
  'jobs retry id': 'jobs',
  'jobs discard id': 'jobs',
  'builds cancel build': 'builds',
  'builds trace build': 'builds',
  'builds show build': 'builds',
  'builds play build': 'manualBuilds',
  'builds retry build': 'endedBuilds',
  'builds erase build': 'endedBuilds',
  'pipelines cancel pipeline': 'runningPipelines',
  'pipelines show pipeline': 'runningPipelines',
  'pipelines retry pipeline': 'endedPipelines',
  'builds list --pipeline': 'runningPipelines',
  'runners pause id': 'runners',
  'runners resume id': 'runners',
  'runners remove id': 'runners',
  'schedules update id': 'schedules',
  'schedules delete id': 'schedules',
  'schedules run id': 'schedules',
  'mirrors show id': 'mirrors',
  'mirrors update id': 'mirrors',
  'mirrors sync id': 'mirrors',
  'mirrors remove id': 'mirrors',
  '--owner': 'users',
  'schedules list --project': 'projects',
  'builds list --project': 'projects',
  'pipelines list --project': 'projects',
  'runners register --project': 'projects',
  'runners token --project': 'projects',
  'deploy-keys add --project': 'projects',
  'deploy-keys list --project': 'projects'
}

/** The names that are the same on every appliance of this version. */
export interface FixedWords {
  readonly queues: readonly string[]
  readonly jobNames: readonly string[]
  readonly tasks: readonly string[]
  readonly settings: readonly string[]
}
type FixedNames = keyof FixedWords

/** Returns the lists of names. Only a completion script needs all of them. */
export async function fixedWords(): Promise<FixedWords> {
  return {
    queues: QUEUES,
    jobNames: Object.keys(jobs),
    tasks: tasks.map(({ name }) => name),
    settings: SETTING_NAMES
  }
}

/** Returns the commands with their names: as values to choose from, or as a kind to look up. */
export function withNames(commands: readonly CommandReference[], fixed: FixedWords): CommandReference[] {
  return commands.map(command => {
    const named = <T extends Nameable>(entry: T, place: string): T => {
      const kind = KINDS[`${command.words.join(' ')} ${place}`] ?? KINDS[place]
      if (kind === undefined || entry.options.length > 0) return entry
      return isLive(kind) ? { ...entry, names: kind } : { ...entry, options: fixed[kind] }
    }
    return {
      ...command,
      arguments: command.arguments.map(entry => named(entry, entry.name)),
      flags: command.flags.map(entry => (entry.takesValue ? named(entry, `--${entry.name}`) : entry))
    }
  })
}

interface Nameable {
  readonly name: string
  readonly options: readonly string[]
}

const isLive = (kind: LiveNames | FixedNames): kind is LiveNames => (LIVE_NAMES as readonly string[]).includes(kind)
