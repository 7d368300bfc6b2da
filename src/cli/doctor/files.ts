// Compares repositories and files with the rows of the database.
import { missingGraphs, writeMissingGraphs } from '../../areas/code/repository/commit-graphs.js'
import { findWrongHeads, mendHeads } from '../../areas/code/repository/heads.js'
import { type AwayStorage, findMissing, remakeMissing } from '../../areas/code/repository/missing-repositories.js'
import { clearStaleLocks, findStaleLocks } from '../../areas/code/repository/stale-locks.js'
import { findOrphans } from '../../areas/upkeep/maintenance/orphaned-files.js'
import { counted } from '../../lib/counted.js'
import { Ailment, type Check } from './check.js'

/** How many to check: enough to find a common fault. --all checks every one. */
const SAMPLE = 1000
const SAMPLE_FOLDERS = 20
const SHOWN = 20

const limitOf = ({ all }: { all: boolean }) => (all ? undefined : SAMPLE)

export const repositoriesCheck: Check = {
  name: 'repositories',
  about: 'every project has its repository',
  needs: 'rows',
  examine: async context => {
    const { missing, away, looked, of } = await findMissing(limitOf(context))
    if (missing.length === 0) return looked === of ? `all ${of} exist` : `looked for ${looked} of ${of}, all exist`
    const lost = missing.filter(({ empty }) => !empty)
    throw new Ailment(
      `${counted(missing.length, 'project')} of ${looked} without a repository`,
      remedyOf(away, lost.length > 0),
      missing
        .slice(0, SHOWN)
        .map(({ id, path, empty }) => `project ${id}: ${path}${empty ? ' (never had a commit)' : ''}`)
    )
  },
  mend: async context =>
    `made ${counted(await remakeMissing(limitOf(context)), 'empty repository', 'empty repositories')}`
}

function remedyOf(away: readonly AwayStorage[], isLost: boolean): string {
  if (away.length > 0) {
    const places = away.map(({ name, path }) => `${name} (${path})`).join(', ')
    return `is each of these storages mounted: ${places}? If it is, restore the repositories that had commits from a backup`
  }
  if (isLost) return 'restore the repositories that had commits from a backup'
  return 'run gitstead doctor --fix: nothing is lost, because these projects never had a commit'
}

export const headsCheck: Check = {
  name: 'heads',
  about: 'HEAD of every repository names the default branch, which exists',
  needs: 'rows',
  examine: async context => {
    const wrong = await findWrongHeads(limitOf(context))
    if (wrong.length === 0) return 'every HEAD names the default branch'
    const isMissing = wrong.some(({ fault }) => fault === 'missing')
    throw new Ailment(
      `HEAD of ${counted(wrong.length, 'repository', 'repositories')} does not name an existing default branch`,
      isMissing
        ? 'push the missing branch, or set another default branch: PUT /projects/:id with default_branch'
        : 'run gitstead doctor --fix: it points HEAD at the default branch',
      wrong
        .slice(0, SHOWN)
        .map(({ project, fault }) => `project ${project.id}: ${project.default_branch} ${SAID[fault]}`)
    )
  },
  mend: async context => `changed HEAD of ${counted(await mendHeads(limitOf(context)), 'repository', 'repositories')}`
}

const SAID = { missing: 'does not exist', elsewhere: 'is not the branch that HEAD names' }

export const commitGraphsCheck: Check = {
  name: 'commit_graphs',
  about: 'every repository with commits has a commit graph, which makes its history fast',
  needs: 'rows',
  examine: async context => {
    const missing = await missingGraphs(limitOf(context))
    if (missing.length === 0) return 'no commit graph is missing'
    throw new Ailment(
      `${counted(missing.length, 'repository', 'repositories')} without a commit graph`,
      'run gitstead doctor --fix, or gitstead maintenance run repository_upkeep',
      missing.slice(0, SHOWN).map(({ id }) => `project ${id}`)
    )
  },
  mend: async context => `wrote ${counted(await writeMissingGraphs(limitOf(context)), 'commit graph')}`
}

export const locksCheck: Check = {
  name: 'locks',
  about: 'no dead process of git holds a lock, which would block changes of branches and tags',
  needs: 'rows',
  examine: async context => {
    const stale = await findStaleLocks(limitOf(context))
    if (stale.length === 0) return 'no dead process holds a lock'
    throw new Ailment(
      `dead processes of git left ${counted(stale.length, 'lock')}`,
      'run gitstead doctor --fix: it removes them',
      stale.slice(0, SHOWN)
    )
  },
  mend: async context => `removed ${counted((await clearStaleLocks(limitOf(context))).length, 'lock')}`
}

export const orphansCheck: Check = {
  name: 'orphans',
  about: 'every repository, artifact, trace and temporary file belongs to a record',
  needs: 'rows',
  examine: async ({ all, now }) => {
    const found = await findOrphans(now, all ? undefined : SAMPLE_FOLDERS)
    const kinds = Object.entries(found).filter(([, paths]) => paths.length > 0)
    if (kinds.length === 0) return 'no orphan is older than a day'
    throw new Ailment(
      kinds.map(([kind, paths]) => `${kind}: ${paths.length}`).join(', '),
      'list them with gitstead maintenance run orphaned_files --dry-run; without --dry-run it removes them',
      kinds.flatMap(([, paths]) => paths).slice(0, SHOWN)
    )
  }
}
