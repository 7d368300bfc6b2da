// The records of an archive, and the check of each. An export runs the check as well, so that everything it writes can be read.
import { createRequire } from 'node:module'
import type { Ajv, ValidateFunction } from 'ajv'
import { BUILD_STATUSES } from '../../../ci/status.js'
import { isShowable } from '../../../lib/moment.js'
import { Nullable } from '../../../lib/schema.js'
import { type Static, type TSchema, Type } from '../../../lib/type.js'
import { UPLOAD_NAME } from '../../../storage/uploads.js'
import { checkHookUrl } from '../../../webhooks/url.js'
import { isWebAddress } from '../../ci/environments/environments.js'
import { LONGEST_DESCRIPTION } from '../../planning/participation/targets.js'
import { BadProjectArchive, KINDS, type Kind } from './format.js'

/** The limit of characters of a text that no rule of its kind limits further. */
const LONGEST_TEXT = 2_000_000
/** Characters that an import adds to a text whose author is missing. */
const ADDED = 500
/** As for variables of projects. */
const LONGEST_VALUE = 65_536
const MOST_ITEMS = 100_000

const text = (maxLength: number) => Type.String({ maxLength })
const prose = text(LONGEST_TEXT)
const described = text(LONGEST_DESCRIPTION + ADDED)
const maybe = Nullable
const flag = Type.Boolean()
const count = Type.Integer({ minimum: 0, maximum: 4_294_967_295 })
const number = Type.Integer({ minimum: 1, maximum: 2_147_483_647 })
const moment = Type.String({ pattern: '^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d\\.\\d{3}Z$', format: 'moment' })
const day = Type.String({ pattern: '^\\d{4}-\\d\\d-\\d\\d$', format: 'day' })
const person = Type.String({ pattern: '^[A-Za-z0-9_.-]{1,255}$' })
const sha = Type.String({ pattern: '^[0-9a-f]{40}$' })
const word = Type.String({ pattern: '^[a-z0-9_+-]{1,64}$' })
/** The address of something that was deployed. */
const webAddress = Type.String({ format: 'web-address' })
const variable = {
  key: Type.String({ pattern: '^[A-Za-z0-9_]{1,255}$' }),
  value: Type.String({ pattern: '^[^\\u0000]*$', maxLength: LONGEST_VALUE })
}
const refName = Type.String({ minLength: 1, maxLength: 255 })
const choice = <T extends string | number>(...values: readonly T[]) => Type.Unsafe<T>({ enum: [...values] })
const maybeChoice = <T extends string | number>(...values: readonly T[]) =>
  Type.Unsafe<T | null>({ enum: [...values, null] })
const list = <T extends TSchema>(item: T, maxItems = MOST_ITEMS) => Type.Array(item, { maxItems })
const exactly = { additionalProperties: false }
const record = <K extends Kind, T extends Record<string, TSchema>>(kind: K, properties: T) =>
  Type.Object({ kind: choice(kind), ...properties }, exactly)

const times = { created_at: moment, updated_at: moment }
const awards = { award_emoji: list(Type.Object({ name: word, user: person, ...times }, exactly)) }
const subscriptions = { subscriptions: list(Type.Object({ user: person, subscribed: flag }, exactly)) }
const colour = Type.String({ pattern: '^#(?:[0-9A-Fa-f]{3}|[0-9A-Fa-f]{6})$' })

/** What issues and merge requests have in common. */
const planned = {
  iid: number,
  title: text(255),
  description: maybe(described),
  author: person,
  assignee: maybe(person),
  milestone: maybe(number),
  updated_by: maybe(person),
  time_estimate: count,
  total_time_spent: count,
  ...times,
  labels: list(text(255)),
  participants: list(person),
  timelogs: list(
    Type.Object(
      {
        user: maybe(person),
        time_spent: Type.Integer({ minimum: -2_147_483_648, maximum: 2_147_483_647 }),
        created_at: moment
      },
      exactly
    )
  ),
  ...awards,
  ...subscriptions
}

const version = Type.Object(
  {
    head_sha: sha,
    base_sha: maybe(sha),
    start_sha: maybe(sha),
    state: choice('collected', 'empty', 'overflow'),
    real_size: Type.String({ pattern: '^\\d{1,10}\\+?$' }),
    created_at: moment
  },
  exactly
)

const ran = {
  started_at: maybe(moment),
  finished_at: maybe(moment),
  ...times
}

const about = Type.Object(
  {
    type: choice('Issue', 'MergeRequest', 'Snippet', 'Commit'),
    /** The iid; the number of a snippet in the archive; null for a commit. */
    number: maybe(number),
    commit: maybe(sha)
  },
  exactly
)

const artifacts = Type.Object({ filename: text(255), expire_at: maybe(moment) }, exactly)

const SCHEMAS = {
  project: record('project', {
    name: text(255),
    path: text(255),
    description: maybe(text(2000)),
    visibility_level: choice(0, 10, 20),
    archived: flag,
    default_branch: maybe(refName),
    issues_enabled: flag,
    merge_requests_enabled: flag,
    builds_enabled: flag,
    wiki_enabled: flag,
    snippets_enabled: flag,
    container_registry_enabled: flag,
    lfs_enabled: flag,
    shared_runners_enabled: flag,
    public_builds: flag,
    request_access_enabled: flag,
    only_allow_merge_if_build_succeeds: flag,
    only_allow_merge_if_all_discussions_are_resolved: flag,
    tag_list: list(text(255), 1000),
    /** SECRET/NAME of an upload in the archive. */
    avatar: maybe(Type.String({ format: 'avatar' })),
    created_at: moment,
    last_activity_at: moment,
    /** The last numbers that were assigned, also to records that were deleted since. */
    counters: Type.Object({ issue: count, milestone: count, merge_request: count }, exactly)
  }),
  member: record('member', {
    username: person,
    access_level: choice(10, 20, 30, 40),
    expires_at: maybe(day),
    created_at: moment
  }),
  label: record('label', {
    title: Type.String({ minLength: 1, maxLength: 255, pattern: '^[^,\\p{Cc}]*$' }),
    color: colour,
    description: maybe(text(255)),
    priority: maybe(count),
    ...times,
    ...subscriptions
  }),
  milestone: record('milestone', {
    iid: number,
    title: Type.String({ minLength: 1, maxLength: 255 }),
    description: maybe(prose),
    start_date: maybe(day),
    due_date: maybe(day),
    state: choice('active', 'closed'),
    ...times
  }),
  protected_branch: record('protected_branch', {
    name: refName,
    developers_can_push: flag,
    developers_can_merge: flag,
    ...times
  }),
  release: record('release', { tag: refName, description: prose, ...times }),
  board: record('board', {
    created_at: moment,
    lists: list(Type.Object({ label: text(255), position: count, created_at: moment }, exactly))
  }),
  hook: record('hook', {
    url: Type.String({ format: 'hook-url' }),
    token: maybe(text(500)),
    push_events: flag,
    tag_push_events: flag,
    issues_events: flag,
    confidential_issues_events: flag,
    merge_requests_events: flag,
    note_events: flag,
    build_events: flag,
    pipeline_events: flag,
    wiki_page_events: flag,
    enable_ssl_verification: flag,
    ...times
  }),
  variable: record('variable', {
    ...variable,
    /** Null: the value decides. */
    masked: maybe(flag),
    protected: flag,
    environment_scope: Type.String({ pattern: '^[\\w\\-./{}$ *]{1,255}$' }),
    ...times
  }),
  pipeline_schedule: record('pipeline_schedule', {
    description: text(255),
    ref: refName,
    cron: text(255),
    owner: maybe(person),
    variables: list(Type.Object(variable, exactly), 100),
    ...times
  }),
  environment: record('environment', {
    name: Type.String({ pattern: '^[A-Za-z0-9_\\-/{}$. ]{1,255}$' }),
    slug: Type.String({ pattern: '^[a-z0-9-]{1,24}$' }),
    external_url: maybe(webAddress),
    state: choice('available', 'stopped'),
    tier: maybe(Type.String({ pattern: '^[a-z]{1,16}$' })),
    ...times
  }),
  issue: record('issue', {
    ...planned,
    state: choice('opened', 'reopened', 'closed'),
    confidential: flag,
    due_date: maybe(day)
  }),
  merge_request: record('merge_request', {
    ...planned,
    state: choice('opened', 'reopened', 'closed', 'merged'),
    merge_status: choice('unchecked', 'can_be_merged', 'cannot_be_merged'),
    target_branch: refName,
    source_branch: refName,
    /** Null for the project itself; a different number for each fork. The maximum keeps them apart from ids (LAST_ID). */
    fork: maybe(Type.Integer({ minimum: 1, maximum: 1_000_000 })),
    head_sha: maybe(sha),
    merge_commit_sha: maybe(sha),
    merge_error: maybe(text(255)),
    merge_user: maybe(person),
    merge_message: maybe(prose),
    should_remove_source_branch: maybe(flag),
    force_remove_source_branch: maybe(flag),
    versions: list(version)
  }),
  snippet: record('snippet', {
    number,
    author: person,
    title: text(255),
    file_name: text(255),
    content: prose,
    visibility_level: choice(0, 10, 20),
    ...times,
    ...awards
  }),
  note: record('note', {
    on: about,
    author: person,
    note: described,
    is_system: flag,
    path: maybe(text(65_535)),
    line: maybe(count),
    line_type: maybeChoice('new', 'old'),
    updated_by: maybe(person),
    refers: Type.Unsafe<Static<typeof about> | null>({ ...about, nullable: true }),
    ...times,
    ...awards
  }),
  pipeline: record('pipeline', {
    number,
    ref: refName,
    tag: flag,
    sha,
    before_sha: sha,
    status: choice(...BUILD_STATUSES),
    source: word,
    yaml_errors: maybe(text(65_535)),
    user: maybe(person),
    committed_at: maybe(moment),
    duration: maybe(count),
    coverage: maybe(Type.Number()),
    ...ran
  }),
  build: record('build', {
    pipeline: number,
    /** Counts all builds of the archive. */
    number,
    name: text(255),
    stage: text(255),
    stage_index: Type.Integer({ minimum: 0, maximum: 65_535 }),
    ref: refName,
    tag: flag,
    sha,
    status: choice(...BUILD_STATUSES),
    start_when: word,
    allow_failure: flag,
    tag_list: list(text(255), 1000),
    user: maybe(person),
    coverage: maybe(Type.Number()),
    failure_reason: maybe(text(64)),
    exit_code: maybe(Type.Integer({ minimum: -2_147_483_648, maximum: 2_147_483_647 })),
    erased_at: maybe(moment),
    queued_at: maybe(moment),
    /** The name of an environment in the archive. */
    environment: maybe(text(255)),
    environment_url: maybe(webAddress),
    trace: flag,
    artifacts: Type.Unsafe<Static<typeof artifacts> | null>({ ...artifacts, nullable: true }),
    ...ran
  }),
  commit_status: record('commit_status', {
    pipeline: number,
    sha,
    ref: refName,
    name: text(255),
    status: choice(...BUILD_STATUSES),
    target_url: maybe(text(2000)),
    description: maybe(text(255)),
    user: maybe(person),
    ...ran
  }),
  deployment: record('deployment', {
    iid: number,
    environment: text(255),
    /** The number of a build. */
    build: number,
    ref: refName,
    tag: flag,
    sha,
    user: maybe(person),
    created_at: moment
  })
} satisfies { readonly [K in Kind]: TSchema }

export type RecordOf<K extends Kind> = Static<(typeof SCHEMAS)[K]>
export type ProjectRecord = { [K in Kind]: RecordOf<K> }[Kind]
export type About = Static<typeof about>

// Loaded when the first record is checked: most processes check none.
const load = () => createRequire(import.meta.url)('ajv') as typeof import('ajv')
let ajv: Ajv | undefined

function checks(): Ajv {
  if (ajv) return ajv
  // Validation stops at the first problem, because a line may have a million of them.
  ajv = new (load().Ajv)({ strict: false, allErrors: false })
  ajv.addFormat('moment', at => isShowable(new Date(at)))
  ajv.addFormat('day', at => isShowable(new Date(at)) && new Date(at).toISOString().startsWith(at))
  ajv.addFormat('web-address', isWebAddress)
  ajv.addFormat('hook-url', url => checkHookUrl(url) === null)
  ajv.addFormat(
    'avatar',
    path => /^[0-9a-f]{32}\/.+\.(png|jpe?g|gif|webp)$/i.test(path) && UPLOAD_NAME.test(path.slice(33))
  )
  return ajv
}
const compiled = new Map<Kind, ValidateFunction>()

/** What records of format 1 lack. Its builds had no numbers. */
const LACKING: { readonly [kind: string]: object } = {
  project: { avatar: null },
  build: { environment: null, environment_url: null, trace: false, artifacts: null }
}

/** Returns a function that turns the records of format 1 into those of this format, before their check. */
export function fromFormat1(): (value: unknown) => unknown {
  let builds = 0
  return value => {
    const { kind } = (value ?? {}) as { readonly kind?: unknown }
    const added = typeof kind === 'string' ? LACKING[kind] : undefined
    if (!added) return value
    return { ...(value as object), ...added, ...(kind === 'build' && { number: ++builds }) }
  }
}

/** Throws BadProjectArchive, starting with `where`, unless the value is a record of this format. */
export function checkRecord(value: unknown, where: string): ProjectRecord {
  const kind = (value as { readonly kind?: unknown } | null)?.kind as Kind
  if (!KINDS.includes(kind)) throw new BadProjectArchive(`${where}: not a record of a known kind`)
  const check = compiled.get(kind) ?? checks().compile(SCHEMAS[kind] as object)
  compiled.set(kind, check)
  if (check(value)) return value as ProjectRecord
  const { instancePath = '', message = 'is invalid' } = check.errors?.[0] ?? {}
  throw new BadProjectArchive(`${where}: ${kind}${instancePath.slice(0, 100)} ${message}`)
}
