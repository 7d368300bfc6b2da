// Reads the facts about an appliance and its machine that `gitstead info` prints.
import { readFileSync } from 'node:fs'
import { arch, availableParallelism, release, totalmem, type as typeOfSystem } from 'node:os'
import { join } from 'node:path'
import { type ApplianceCounts, applianceCounts, databaseFacts } from '../../areas/upkeep/maintenance/counts.queries.js'
import { config, publicUrl } from '../../config.js'
import { runGit } from '../../git/process/run.js'
import { revision, version } from '../../version.js'
import { type FolderSize, folderSize } from './folder-size.js'
import { findServer, sshUrl } from './read-status.js'

export interface ApplianceFacts {
  readonly versions: {
    readonly gitstead: string
    /** The commit that the program was built from. */
    readonly revision: string
    readonly node: string
    readonly git: string
    readonly database: string
    readonly system: string
  }
  readonly machine: { readonly processors: number; readonly memory: number }
  readonly home: string
  readonly urls: { readonly public: string; readonly server: string; readonly api: string; readonly ssh: string | null }
  readonly database: { readonly kind: 'embedded' | 'outside'; readonly bytes: number }
  readonly counts: ApplianceCounts
  readonly folders: { readonly [K in 'repositories' | 'artifacts' | 'traces' | 'lfs']: FolderSize }
}

/** Reads all facts in parallel; measures folders for at most `seconds`. Throws Unavailable when no database answers. */
export async function readFacts(seconds: number): Promise<ApplianceFacts> {
  const { home } = config()
  const deadline = Date.now() + seconds * 1000
  const sizeOf = (folder: string) => folderSize(join(home, folder), deadline)
  const [server, git, database, counts, repositories, artifacts, traces, lfs] = await Promise.all([
    findServer(),
    runGit(['--version']),
    databaseFacts(),
    applianceCounts(),
    sizeOf('repositories'),
    sizeOf('artifacts'),
    sizeOf('traces'),
    sizeOf('lfs')
  ])
  return {
    versions: {
      gitstead: version,
      revision,
      node: process.versions.node,
      git: git
        .toString()
        .trim()
        .replace(/^git version /, ''),
      database: database.version,
      system: systemName()
    },
    machine: { processors: availableParallelism(), memory: totalmem() },
    home,
    urls: {
      public: publicUrl(),
      server: server.url,
      api: `${publicUrl()}/api/v3`,
      ssh: sshUrl()
    },
    database: { kind: config().database.url === null ? 'embedded' : 'outside', bytes: database.bytes },
    counts,
    folders: { repositories, artifacts, traces, lfs }
  }
}

function systemName(): string {
  const kernel = `${typeOfSystem()} ${release()} ${arch()}`
  try {
    const [, name] = /^PRETTY_NAME="?([^"\n]+)"?$/m.exec(readFileSync('/etc/os-release', 'utf8')) ?? []
    return name === undefined ? kernel : `${name} (${kernel})`
  } catch {
    return kernel
  }
}
