// Repositories and files against rows.
import { findOrphans } from '../../areas/maintenance/orphaned-files.js'
import { missingGraphs, writeMissingGraphs } from '../../areas/repository/commit-graphs.js'
import { findMissing, remakeMissing } from '../../areas/repository/missing-repositories.js'
import { Ailment, type Check, count } from './check.js'

/** Enough to find what is wrong at large; --all looks at every one. */
const SAMPLE = 1000
const SAMPLE_FOLDERS = 20
const SHOWN = 20

const limitOf = ({ all }: { all: boolean }) => (all ? undefined : SAMPLE)

export const repositoriesCheck: Check = {
  name: 'repositories',
  about: 'every project has its repository',
  needs: 'rows',
  examine: async context => {
    const { missing, looked, of } = await findMissing(limitOf(context))
    if (missing.length === 0) return looked === of ? `all ${of} are there` : `${looked} of ${of} looked for, all there`
    const lost = missing.filter(({ empty }) => !empty)
    throw new Ailment(
      `${count(missing.length, 'project')} of ${looked} without a repository`,
      lost.length > 0
        ? 'restore those that had commits from a backup'
        : 'gitstead doctor --fix: no commit was ever accepted there',
      missing
        .slice(0, SHOWN)
        .map(({ id, path, empty }) => `project ${id}: ${path}${empty ? ' (never had a commit)' : ''}`)
    )
  },
  mend: async context =>
    `made ${count(await remakeMissing(limitOf(context)), 'empty repository', 'empty repositories')}`
}

export const commitGraphsCheck: Check = {
  name: 'commit_graphs',
  about: 'repositories with commits have a commit graph, without which histories are slow',
  needs: 'rows',
  examine: async context => {
    const missing = await missingGraphs(limitOf(context))
    if (missing.length === 0) return 'none is missing'
    throw new Ailment(
      `${count(missing.length, 'repository', 'repositories')} without a commit graph`,
      'gitstead doctor --fix, or gitstead maintenance run repository_upkeep',
      missing.slice(0, SHOWN).map(({ id }) => `project ${id}`)
    )
  },
  mend: async context => `wrote ${count(await writeMissingGraphs(limitOf(context)), 'commit graph')}`
}

export const orphansCheck: Check = {
  name: 'orphans',
  about: 'no repository, artifact, trace or temporary file is left that no record speaks of',
  needs: 'rows',
  examine: async ({ all, now }) => {
    const found = await findOrphans(now, all ? undefined : SAMPLE_FOLDERS)
    const kinds = Object.entries(found).filter(([, paths]) => paths.length > 0)
    if (kinds.length === 0) return 'none older than a day'
    throw new Ailment(
      kinds.map(([kind, paths]) => `${kind}: ${paths.length}`).join(', '),
      'look at them: gitstead maintenance run orphaned_files --dry-run; without --dry-run it removes them',
      kinds.flatMap(([, paths]) => paths).slice(0, SHOWN)
    )
  }
}
