// Events of the feed as sentences for people, with links to what they are about. The events of a page need a fixed number of
// statements. Access was checked when the events were read.
import { marks, padded, rows } from '../../../db/connect/sql.js'
import { ZERO } from '../../../git/refs/refs.js'
import { parseStored } from '../../../lib/stored-json.js'
import { pathOf } from '../../../text/page-links.js'
import type { EventRow } from './events.queries.js'

export interface EventLine {
  readonly id: number
  readonly at: Date
  readonly author: { readonly name: string; readonly username: string }
  /** What the author did: a verb, and the kind of the object. */
  readonly verb: string
  readonly object: { readonly text: string; readonly path: string | null } | null
  /** The project; null when it was removed in the meantime. */
  readonly project: { readonly text: string; readonly path: string } | null
  /** The beginning of a comment. */
  readonly excerpt: string | null
  readonly commits: readonly { readonly id: string; readonly title: string; readonly path: string | null }[]
  /** How many commits a push has; null for others. */
  readonly total: number | null
  /** The page that compares the branch before and after the push. */
  readonly comparison: string | null
}

/** Characters of a comment, and commits of a push, that are shown. */
const EXCERPT = 300
const MOST_COMMITS = 3

/** Returns events as lines, in their order. */
export async function readEventLines(events: readonly EventRow[]): Promise<EventLine[]> {
  const of = (type: string) =>
    events.flatMap(({ target_type: target, target_id: id }) => (target === type && id !== null ? [id] : []))
  const [projects, issues, mergeRequests, milestones, notes, reopened] = await Promise.all([
    read<ProjectFound>(
      SELECT_PROJECTS,
      events.map(({ project_id: id }) => id)
    ),
    read<Numbered>('select id, iid from issues where id', of('Issue')),
    read<Numbered>('select id, iid from merge_requests where deleted_at is null and id', of('MergeRequest')),
    read<Numbered>('select id, iid from milestones where id', of('Milestone')),
    read<NoteFound>(SELECT_NOTES, of('Note')),
    read<{ readonly id: number }>(
      SELECT_REOPENED,
      events.flatMap(({ action, id }) => (action === 'opened' ? [id] : []))
    )
  ])
  const found = { Issue: issues, MergeRequest: mergeRequests, Milestone: milestones }
  return events.map(event => {
    const project = projects.get(event.project_id)
    const base = project && pathOf(project.namespace_path, project.path)
    const note = event.target_type === 'Note' ? notes.get(event.target_id ?? 0) : undefined
    const numbered = found[event.target_type as keyof typeof found]?.get(event.target_id ?? 0)
    return {
      id: event.id,
      at: event.created_at,
      author: { name: event.author_name, username: event.author_username },
      project: project && base ? { text: project.name, path: base } : null,
      excerpt: note ? note.text.replace(/\s+/g, ' ').trim() : null,
      ...NO_PUSH,
      ...(event.data === null
        ? told(reopened.has(event.id) ? { ...event, action: 'reopened' } : event, base, numbered, note)
        : pushed(event, base))
    }
  })
}

const NO_PUSH = { commits: [], total: null, comparison: null }

interface ProjectFound {
  readonly id: number
  readonly name: string
  readonly path: string
  readonly namespace_path: string
}

interface Numbered {
  readonly id: number
  readonly iid: number
}

interface NoteFound {
  readonly id: number
  readonly noteable_type: 'Issue' | 'MergeRequest' | 'Snippet' | 'Commit'
  readonly commit_id: string | null
  readonly text: string
  /** The number of an issue or a merge request, the id of a snippet. */
  readonly number: number | null
}

const SELECT_PROJECTS = `select p.id, concat(n.name, ' / ', p.name) as name, p.path, n.path as namespace_path
  from projects p join namespaces n on n.id = p.namespace_id where p.id`
/** The feed says `opened` of what was reopened, too. The automatic note of the same happening shows which. */
const SELECT_REOPENED = `select e.id from activity_events e
  join notes c on c.once = concat(e.happening_id, ' state') where e.id`
const SELECT_NOTES = `select c.id, c.noteable_type, c.commit_id, left(c.note, ${EXCERPT}) as text,
    coalesce(i.iid, m.iid, c.noteable_id) as number
  from notes c left join issues i on c.noteable_type = 'Issue' and i.id = c.noteable_id
  left join merge_requests m on c.noteable_type = 'MergeRequest' and m.id = c.noteable_id where c.id`

async function read<Row extends { readonly id: number }>(
  sql: string,
  ids: readonly number[]
): Promise<Map<number, Row>> {
  if (ids.length === 0) return new Map()
  const list = padded([...new Set(ids)])
  return new Map((await rows<Row>(`${sql} in (${marks(list)})`, list)).map(row => [row.id, row]))
}

type Told = Pick<EventLine, 'verb' | 'object'>

const KINDS = {
  Issue: { words: 'issue', sign: '#', page: 'issues' },
  MergeRequest: { words: 'merge request', sign: '!', page: 'merge_requests' },
  Milestone: { words: 'milestone', sign: '', page: 'milestones' },
  Snippet: { words: 'snippet', sign: '$', page: 'snippets' }
} as const

function told(event: EventRow, base: string | undefined, numbered?: Numbered, note?: NoteFound): Told {
  const { action, target_type: type, target_title: title } = event
  if (type === null) return { verb: PROJECT_VERBS[action] ?? action, object: null }
  if (type === 'Note') return { verb: 'commented on', object: note ? noted(note, title, base) : null }
  const kind = KINDS[type as keyof typeof KINDS]
  if (!kind) return { verb: `${action} ${type}`, object: null }
  const number = numbered && kind.sign !== '' ? `${kind.sign}${numbered.iid} ` : ''
  return {
    verb: `${action} ${kind.words}`,
    object: {
      text: `${number}${title ?? ''}`.trim() || kind.words,
      path: base && numbered ? `${base}${pathOf(kind.page, String(numbered.iid))}` : null
    }
  }
}

/** Events about the project itself. */
const PROJECT_VERBS: { readonly [action: string]: string } = {
  created: 'created the project',
  joined: 'joined the project',
  left: 'left the project',
  'removed due to membership expiration from': 'is no longer a member, because the membership ended'
}

function noted(note: NoteFound, title: string | null, base: string | undefined): Told['object'] {
  if (note.noteable_type === 'Commit') {
    const id = note.commit_id ?? ''
    return {
      text: `commit ${id.slice(0, 8)}`,
      path: base && id ? `${base}${pathOf('commit', id)}#note_${note.id}` : null
    }
  }
  const { words, sign, page } = KINDS[note.noteable_type]
  return {
    text: `${words} ${sign}${note.number} ${title ?? ''}`.trim(),
    path: base && note.number ? `${base}${pathOf(page, String(note.number))}#note_${note.id}` : null
  }
}

/** What the feed keeps of a push: the payload of a hook, perhaps shortened. */
interface Push {
  readonly ref?: string
  readonly before?: string
  readonly after?: string
  readonly total_commits_count?: number
  readonly commits?: readonly { readonly id: string; readonly message: string }[]
}

function pushed(event: EventRow, base: string | undefined): Partial<EventLine> & Told {
  const {
    ref = '',
    before = ZERO,
    after = ZERO,
    total_commits_count: total = 0,
    commits = []
  } = parseStored<Push | null>(event.data ?? '', null) ?? {}
  const isTag = ref.startsWith('refs/tags/')
  const name = ref.replace(/^refs\/(heads|tags)\//, '')
  const isBoth = before !== ZERO && after !== ZERO
  return {
    verb: `${event.action} ${isTag ? 'tag' : 'branch'}`,
    object: { text: name, path: base && after !== ZERO ? `${base}${pathOf('tree', name)}` : null },
    commits: commits
      .slice(-MOST_COMMITS)
      .reverse()
      .map(({ id, message }) => ({
        id,
        title: (message.split('\n', 1)[0] ?? '').slice(0, 255),
        path: base ? `${base}${pathOf('commit', id)}` : null
      })),
    total: isTag ? null : total,
    comparison: base && isBoth && total > 1 ? `${base}${pathOf('compare')}/${before}...${after}` : null
  }
}
