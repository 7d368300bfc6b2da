// Lists every check of `gitstead doctor` in order: a check may depend on those above it.
import { bucketCheck } from './bucket.js'
import type { Check } from './check.js'
import { clockCheck, databaseCheck, schemaCheck } from './database.js'
import { encryptionKeyCheck } from './encryption-key.js'
import { engineCheck } from './engine.js'
import { commitGraphsCheck, headsCheck, locksCheck, orphansCheck, repositoriesCheck } from './files.js'
import { foldersCheck, homeCheck, secretsCheck } from './home.js'
import { backupsCheck, buildFilesCheck, integrityCheck } from './integrity.js'
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
import { mailCheck } from './mail.js'
import { gitCheck, gitsteadCheck, mariadbCheck, nodeCheck, sandboxCheck } from './programs.js'
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
  bucketCheck,
  databaseCheck,
  schemaCheck,
  tablesCheck,
  encryptionKeyCheck,
  clockCheck,
  modeCheck,
  workersCheck,
  jobsCheck,
  deadJobsCheck,
  retriedJobsCheck,
  queuesCheck,
  refChangesCheck,
  removalsCheck,
  hooksCheck,
  maintenanceCheck,
  backupsCheck,
  repositoriesCheck,
  locksCheck,
  // Before `integrity`: git cannot check a repository whose HEAD it cannot read.
  headsCheck,
  integrityCheck,
  commitGraphsCheck,
  buildFilesCheck,
  orphansCheck
]
