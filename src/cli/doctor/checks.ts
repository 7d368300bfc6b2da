// Lists every check of `gitstead doctor` in order: a check may depend on those above it.
import { administratorCheck } from './administrator.js'
import { bucketCheck } from './bucket.js'
import type { Check } from './check.js'
import { clockCheck, databaseCheck, replicaCheck, schemaCheck } from './database.js'
import { directoriesCheck } from './directories.js'
import { encryptionKeyCheck } from './encryption-key.js'
import { engineCheck } from './engine.js'
import { commitGraphsCheck, headsCheck, locksCheck, orphansCheck, repositoriesCheck } from './files.js'
import { foldersCheck, homeCheck, secretsCheck } from './home.js'
import { backupsCheck, buildFilesCheck, integrityCheck, lfsFilesCheck } from './integrity.js'
import {
  deadJobsCheck,
  hooksCheck,
  jobsCheck,
  maintenanceCheck,
  modeCheck,
  queuesCheck,
  refChangesCheck,
  removalsCheck,
  retriedJobsCheck,
  workersCheck
} from './jobs.js'
import { addressCheck, diskCheck } from './machine.js'
import { machinesCheck, storagesCheck } from './machines.js'
import { mailCheck } from './mail.js'
import { gitCheck, gitsteadCheck, mariadbCheck, nodeCheck, sandboxCheck } from './programs.js'
import { providersCheck } from './providers.js'
import { retiredProvidersCheck } from './retired-providers.js'
import { scimCheck } from './scim.js'
import { secondFactorsCheck } from './second-factors.js'
import { sshCheck } from './ssh.js'
import { tablesCheck } from './tables.js'
import { urlCheck } from './url.js'

export const checks: readonly Check[] = [
  gitsteadCheck,
  nodeCheck,
  gitCheck,
  mariadbCheck,
  sandboxCheck,
  engineCheck,
  homeCheck,
  foldersCheck,
  secretsCheck,
  diskCheck,
  addressCheck,
  urlCheck,
  sshCheck,
  mailCheck,
  providersCheck,
  bucketCheck,
  directoriesCheck,
  databaseCheck,
  schemaCheck,
  replicaCheck,
  tablesCheck,
  administratorCheck,
  secondFactorsCheck,
  retiredProvidersCheck,
  encryptionKeyCheck,
  clockCheck,
  machinesCheck,
  storagesCheck,
  modeCheck,
  workersCheck,
  jobsCheck,
  deadJobsCheck,
  retriedJobsCheck,
  queuesCheck,
  refChangesCheck,
  removalsCheck,
  hooksCheck,
  scimCheck,
  maintenanceCheck,
  backupsCheck,
  repositoriesCheck,
  locksCheck,
  // Before `integrity`: git cannot check a repository whose HEAD it cannot read.
  headsCheck,
  integrityCheck,
  commitGraphsCheck,
  buildFilesCheck,
  lfsFilesCheck,
  orphansCheck
]
