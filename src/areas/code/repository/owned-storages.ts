// What a server or worker does when its machine begins or ends to own a storage of repositories.
import { joinStorages, type Storage } from '../../../cluster/storages.js'
import { endGitProcesses, forgetRepositories } from '../../../git/repository/processes.js'
import { log } from '../../../log.js'
import { settleOpenChanges } from '../refs/recovery.js'

/** Keeps the owners of storages known until the pool closes. Settles what the former owner of a storage left open. */
export const joinRepositories = (): Promise<void> => joinStorages({ taken, lost })

function taken(storage: Storage): void {
  forgetRepositories()
    .then(settleOpenChanges)
    .catch(error => log().warn({ storage: storage.name, error: String(error) }, 'changes of refs are still open'))
}

function lost({ path }: Storage, isGiven: boolean): void {
  // A clone from a storage that has moved may end: nothing of it changes the storage.
  if (!isGiven) endGitProcesses(path)
  forgetRepositories().catch(error => log().warn({ error: String(error) }, 'git processes could not be closed'))
}
