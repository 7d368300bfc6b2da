// Not specified: the record of a migration. It contains no token.
import { described, Flag, IdOf, Integer, Moment, Nullable, OneOf, Text } from '../../../lib/schema.js'
import { parseStored } from '../../../lib/stored-json.js'
import { Type } from '../../../lib/type.js'
import { type Result, STATES, type Migration as Stored, WORKS } from '../runs/migrations.js'
import type { Placeholder as StoredPlaceholder } from '../runs/placeholders.js'

const work = (description: string) => Nullable(OneOf(WORKS, 'MigrationWork', description))

const properties = {
  id: IdOf('the migration'),
  name: Text('its name, by which commands find it'),
  kind: Text('the kind of forge'),
  url: Text('the URL of the forge'),
  map: Type.Record(Type.String(), Type.String(), {
    description: 'namespaces of the forge, and those here that get their projects'
  }),
  named_people: Integer('how many people of the forge have a username here by the settings'),
  rate: Integer('requests in a second, at most'),
  keys: Flag('whether matched users get their SSH keys'),
  commit_comments: Flag('whether comments on commits are read with a request for each commit'),
  trust_addresses: Flag('whether mail addresses match people also where the forge does not say who has confirmed them'),
  state: OneOf(
    STATES,
    'MigrationState',
    'what the last request does, or how it ended. `partial`: some projects failed, or something could not be read. Commands do not change it'
  ),
  work: work('what the last request asked for'),
  projects: Type.Array(Text('the path of a project'), {
    description: 'the projects of the last request; none means all that the token shows'
  }),
  progress: Nullable(Text('what it does now')),
  error: Nullable(Text('why the last request failed, or what it waits for')),
  busy: Flag('whether a request or a command works on it now'),
  machine: Nullable(Text('the machine that has what was read, and does the work; null before something was read')),
  requested_at: Nullable(Moment('when the last request was made')),
  started_at: Nullable(Moment('when its work began')),
  ended_at: Nullable(Moment('when its work ended')),
  result_of: work('what a request or a command has finished last'),
  result_at: Nullable(Moment('when that was')),
  created_at: Moment('when it was created')
}

export const Migration = Type.Object(properties, {
  title: 'Migration',
  description: 'A forge from which projects move here.'
})

export const MigrationWithResult = Type.Object(
  {
    ...properties,
    result: Nullable(
      described(
        Type.Object(
          {
            whole: Flag('false: the result is large, and its lists are shortened'),
            report: Type.Unknown({ description: 'what the command with `--json` shows' })
          },
          { title: 'MigrationResult', description: 'The result of what was finished last.' }
        ),
        'the result of `result_of`; null before something was finished'
      )
    )
  },
  { title: 'MigrationWithResult', description: 'A migration with its last result.' }
)

export const viewMigration = (of: Stored) => {
  const { row } = of
  return {
    id: row.id,
    name: row.name,
    kind: row.kind,
    url: row.url,
    map: of.map,
    named_people: Object.keys(of.people).length,
    rate: of.rate,
    // Commands of an earlier version left it out.
    keys: of.keys === true,
    commit_comments: of.comments === true,
    trust_addresses: of.trust === true,
    state: row.state,
    work: row.work,
    projects: parseStored<{ projects?: string[] } | null>(row.options ?? '{}', null)?.projects ?? [],
    progress: row.progress,
    error: row.error,
    busy: row.is_busy === 1,
    machine: row.machine_name,
    requested_at: row.requested_at,
    started_at: row.started_at,
    ended_at: row.ended_at,
    result_of: row.result_of,
    result_at: row.result_at,
    created_at: row.created_at
  }
}

export const viewMigrationWithResult = (of: Stored, result: Result | null) => ({ ...viewMigration(of), result })

export const Placeholder = Type.Object(
  {
    id: IdOf('its user'),
    username: Text('its username here'),
    name: Text('the name of the person'),
    source_username: Text('the username at the forge'),
    email: Nullable(Text('the address that the forge has verified')),
    created_at: Moment('when it was created')
  },
  { title: 'MigrationPlaceholder', description: 'A person of the forge who has no user here.' }
)

export const viewPlaceholder = (of: StoredPlaceholder) => ({
  id: of.id,
  username: of.username,
  name: of.name,
  source_username: of.source_username,
  email: of.email,
  created_at: of.created_at
})
