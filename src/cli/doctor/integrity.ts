// Checks the stored content: objects of repositories, files of builds, backups.
import { randomBytes } from 'node:crypto'
import { lookAtBuildFiles } from '../../areas/ci/builds/files/damaged-files.js'
import { lookIntoRepositories } from '../../areas/code/repository/integrity.js'
import { countLinkedObjects, lookAtObjects } from '../../areas/projects/lfs/usage.js'
import { lastGoodBackup } from '../../areas/upkeep/backup/last-backup.js'
import { migrationStates } from '../../db/schema/migrate.js'
import { counted } from '../../lib/counted.js'
import { Ailment, type Check } from './check.js'

/** How many one run checks without --all. The next run continues. */
const REPOSITORIES = 1000
const BUILDS = 10_000
const LFS_FILES = 1000
const SHOWN = 20
const HOUR = 3_600_000
/** Hours. Backups run every night, so a failed backup is noticed before the second one fails. */
const OLDEST_BACKUP = 48

export const integrityCheck: Check = {
  name: 'integrity',
  about: 'every object exists that HEAD and the refs of a repository need',
  needs: 'rows',
  examine: async ({ all, progress }) => {
    const { damaged, looked, unchanged } = await lookIntoRepositories({
      all,
      ...(!all && { most: REPOSITORIES }),
      progress: (done, total) => progress?.('repositories', done, total)
    })
    const said = `looked into ${counted(looked, 'repository', 'repositories')}, ${unchanged} unchanged since the last look`
    if (damaged.length === 0) return said
    throw new Ailment(
      `${counted(damaged.length, 'repository is', 'repositories are')} damaged; ${said}`,
      'check the disk, then restore the project: gitstead restore --help',
      damaged.slice(0, SHOWN).map(({ id, path, problem }) => `project ${id}: ${problem} (${path})`)
    )
  }
}

export const buildFilesCheck: Check = {
  name: 'build_files',
  about: 'every archive and trace of a build has the size and the bytes that its row says',
  needs: 'rows',
  examine: async ({ all, progress }) => {
    const { damaged, looked, complete } = await lookAtBuildFiles({
      all,
      ...(!all && { most: BUILDS }),
      progress: (done, total) => progress?.('files of builds', done, total)
    })
    const said = `looked at ${counted(looked, 'build')}${complete ? '' : '; the next run continues'}`
    if (damaged.length === 0) return said
    throw new Ailment(
      `${counted(damaged.length, 'file')} of builds ${damaged.length === 1 ? 'is' : 'are'} damaged; ${said}`,
      'restore them from a backup (gitstead restore BACKUP --project PROJECT), or retry the builds',
      damaged.slice(0, SHOWN)
    )
  }
}

export const lfsFilesCheck: Check = {
  name: 'lfs_files',
  about: 'the files of projects in LFS are stored, with the right sizes (--all: every one)',
  needs: 'rows',
  examine: async ({ all, progress }) => {
    const total = await countLinkedObjects()
    const { looked, lost, damaged } = await lookAtObjects({
      ...(!all && { from: randomBytes(32).toString('hex'), most: LFS_FILES }),
      progress: done => progress?.('files in LFS', done, all ? total : Math.min(total, LFS_FILES))
    })
    const said = `looked at ${looked} of ${counted(total, 'file')}`
    if (lost === 0) return said
    throw new Ailment(
      `${counted(lost, 'file')} in LFS ${lost === 1 ? 'is' : 'are'} missing or damaged; ${said}`,
      'check the disk or the bucket, then restore the files from a backup: gitstead restore BACKUP --project PROJECT',
      damaged
        .slice(0, SHOWN)
        .map(
          ({ oid, size, stored }) =>
            `${oid}: ${stored === undefined ? 'missing' : `${stored} instead of ${size} bytes`}`
        )
    )
  }
}

export const backupsCheck: Check = {
  name: 'backups',
  about: `the last good backup is not older than ${OLDEST_BACKUP} hours`,
  needs: 'rows',
  examine: async ({ now }) => {
    const last = await lastGoodBackup()
    const remedy = 'run gitstead backup create every night (docs/operate/backup.md), and check why it fails'
    if (last === null) {
      const made = (await migrationStates())[0]?.applied_at ?? now
      if (hoursSince(made, now) < OLDEST_BACKUP) {
        return {
          found: 'no backup yet; the appliance is new',
          next: 'run gitstead backup create every night (docs/operate/backup.md), and copy secrets.json to another place'
        }
      }
      throw new Ailment('there is no good backup', remedy)
    }
    const hours = hoursSince(last.made_at, now)
    const unseen = last.seen ? '' : '; its folder does not exist now'
    const said = `the last good one is ${counted(Math.floor(hours), 'hour')} old: ${last.path}${unseen}`
    if (hours < OLDEST_BACKUP) return said
    throw new Ailment(said, remedy)
  }
}

const hoursSince = (moment: Date, now: Date) => Math.max(0, now.getTime() - moment.getTime()) / HOUR
