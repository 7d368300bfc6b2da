import { bytesText } from '../../lib/bytes.js'
import type { FolderSize } from './folder-size.js'
import type { ApplianceFacts } from './read-facts.js'

/** Returns the facts about an appliance as `name: text` for people. */
export function factLines({ versions, machine, home, urls, database, counts, folders }: ApplianceFacts) {
  const { users, jobs } = counts
  return {
    gitstead: `${versions.gitstead} (revision ${versions.revision})`,
    node: versions.node,
    git: versions.git,
    database: `${versions.database}, ${database.kind}, ${bytesText(database.bytes)}`,
    system: versions.system,
    machine: `${machine.processors} processors, ${bytesText(machine.memory)} memory`,
    home,
    url: urls.public,
    'listens at': urls.server,
    ssh: urls.ssh ?? 'off',
    users: `${users.total} (${users.active} active, ${users.blocked} blocked, ${users.administrators} administrators)`,
    projects: counts.projects,
    hooks: counts.hooks,
    jobs: `${jobs.ready} ready, ${jobs.delayed} delayed, ${jobs.running} running, ${jobs.dead} dead`,
    repositories: folder(folders.repositories),
    artifacts: folder(folders.artifacts),
    traces: folder(folders.traces),
    'LFS files': folder(folders.lfs)
  }
}

const folder = ({ bytes, files, complete }: FolderSize) =>
  `${complete ? '' : 'more than '}${bytesText(bytes)} in ${files} files${complete ? '' : ' (raise --seconds to count all)'}`
