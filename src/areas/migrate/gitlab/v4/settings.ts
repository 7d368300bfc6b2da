// Protected branches, releases, the board and hooks of a project of GitLab.
import { checked, firstMoment } from '../../sources/shapes.js'
import type { Draft } from '../../sources/source.js'
import { environmentRecords, scheduleRecords, variableRecords } from './deployments.js'
import { itemsOf } from './lists.js'
import type { Reading } from './reading.js'
import { Board, Hook, ProtectedBranch, Release } from './shapes.js'

const DEVELOPER = 30

const checkBranch = checked(ProtectedBranch)
const checkRelease = checked(Release)
const checkBoard = checked(Board)
const checkHook = checked(Hook)

export async function* settingRecords(reading: Reading): AsyncGenerator<Draft> {
  yield* branchRecords(reading)
  yield* releaseRecords(reading)
  yield* boardRecords(reading)
  yield* hookRecords(reading)
  yield* variableRecords(reading)
  yield* scheduleRecords(reading)
  yield* environmentRecords(reading)
}

type Levels = readonly { readonly access_level?: number | null }[] | null | undefined
/** Access for a single user or group has no level of a role. */
const includesDevelopers = (levels: Levels): boolean =>
  (levels ?? []).some(({ access_level }) => access_level === DEVELOPER)

async function* branchRecords(reading: Reading): AsyncGenerator<Draft> {
  for await (const found of itemsOf(reading, 'protected_branches', checkBranch, 'protected branch')) {
    yield {
      kind: 'protected_branch',
      name: found.name,
      developers_can_push: includesDevelopers(found.push_access_levels),
      developers_can_merge: includesDevelopers(found.merge_access_levels),
      created_at: reading.created,
      updated_at: reading.created
    }
  }
}

async function* releaseRecords(reading: Reading): AsyncGenerator<Draft> {
  const list = 'releases?order_by=created_at&sort=asc'
  for await (const { tag_name, name, description, ...found } of itemsOf(reading, list, checkRelease, 'release')) {
    if (!tag_name) {
      reading.skipped('release', 'it has no tag')
      continue
    }
    const created_at = firstMoment(found.created_at, found.released_at, reading.created)
    const links = (found.assets?.links ?? []).map(({ name, url }) => `- [${name.replace(/[[\]\\\n]/g, ' ')}](${url})`)
    yield {
      kind: 'release',
      tag: tag_name,
      description: [name && name !== tag_name ? `# ${name}` : '', description ?? '', links.join('\n')]
        .filter(part => part !== '')
        .join('\n\n'),
      created_at,
      updated_at: created_at
    }
  }
}

async function* boardRecords(reading: Reading): AsyncGenerator<Draft> {
  let boards = 0
  for await (const { lists } of itemsOf(reading, 'boards', checkBoard, 'board')) {
    if (boards++ > 0) {
      reading.skipped('board', 'a project here has one board')
      continue
    }
    const titles = new Map<string, number>()
    for (const { label, position } of lists ?? []) {
      if (label && reading.labels.has(label.name)) titles.set(label.name, position ?? titles.size)
      else reading.skipped('list of a board', 'it is not for a label of the project')
    }
    yield {
      kind: 'board',
      created_at: reading.created,
      lists: [...titles].map(([label, position]) => ({ label, position, created_at: reading.created }))
    }
  }
}

/** They come disabled. GitLab does not show their secret tokens. */
async function* hookRecords(reading: Reading): AsyncGenerator<Draft> {
  for await (const found of itemsOf(reading, 'hooks', checkHook, 'hook')) {
    const created_at = firstMoment(found.created_at, reading.created)
    yield {
      kind: 'hook',
      url: found.url,
      token: null,
      push_events: found.push_events === true,
      tag_push_events: found.tag_push_events === true,
      issues_events: found.issues_events === true,
      confidential_issues_events: found.confidential_issues_events === true,
      merge_requests_events: found.merge_requests_events === true,
      note_events: found.note_events === true,
      build_events: found.job_events === true,
      pipeline_events: found.pipeline_events === true,
      wiki_page_events: found.wiki_page_events === true,
      enable_ssl_verification: found.enable_ssl_verification !== false,
      created_at,
      updated_at: created_at
    }
  }
}
