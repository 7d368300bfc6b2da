// What the OpenAPI document says of the API as a whole.

export const tags = [
  { name: 'Users', description: 'People: accounts, their keys, email addresses and tokens.' },
  { name: 'OAuth applications', description: 'Applications that ask for access in the name of users.' },
  { name: 'Groups', description: 'Groups of people, who own projects together.' },
  { name: 'Namespaces', description: 'The places of projects: those of users, and groups.' },
  { name: 'Members', description: 'The users who have a level in a project or group.' },
  { name: 'Access requests', description: 'Users who ask to become members of a project or group.' },
  { name: 'Projects', description: 'Projects: a repository with what belongs to it.' },
  { name: 'Deploy keys', description: 'Keys that open the repositories of projects by SSH, without an account.' },
  { name: 'Repository', description: 'Files, folders and commits of the git repository of a project.' },
  { name: 'Branches', description: 'Branches of the repository, and which of them are protected.' },
  { name: 'Tags', description: 'Tags of the repository, and the release notes about them.' },
  { name: 'Merge requests', description: 'Wishes that a branch gets the changes of another one.' },
  { name: 'Pipelines', description: 'Runs of the CI file, each for one commit.' },
  { name: 'Builds', description: 'The jobs of pipelines, with their traces and artifacts.' },
  { name: 'Runners', description: 'Programs that run builds, on this machine or on others.' },
  { name: 'Environments', description: 'The places that builds deploy to.' },
  { name: 'Deployments', description: 'What builds have brought to environments.' },
  { name: 'Commit statuses', description: 'What builds and services say about a commit.' },
  { name: 'Triggers', description: 'Tokens with which programs start pipelines.' },
  { name: 'Variables', description: 'Values that every build of a project gets, such as passwords.' },
  { name: 'Labels', description: 'Words that mark issues and merge requests.' },
  { name: 'Milestones', description: 'Steps of a project, for which issues and merge requests are planned.' },
  { name: 'Issues', description: 'What there is to do in projects.' },
  { name: 'Boards', description: 'The issues of a project in lists, by their labels.' },
  { name: 'Snippets', description: 'Pieces of text and code, in a project or of a user.' },
  { name: 'Notes', description: 'What people write about issues, merge requests and snippets.' },
  { name: 'Award emoji', description: 'Emoji that people give to issues, merge requests, snippets and notes.' },
  { name: 'Todos', description: 'What waits for you: issues, merge requests and commits.' },
  { name: 'Notification settings', description: 'What users want mail for.' },
  { name: 'Project hooks', description: 'URLs that are called when something happens in a project.' },
  { name: 'Services', description: 'What projects do by mail and with other programs, such as trackers and wikis.' },
  { name: 'System hooks', description: 'URLs that are called when something happens anywhere on the instance.' },
  { name: 'Audit', description: 'Who changed what, when and from where.' },
  { name: 'Templates', description: 'Texts for new files: licenses, ignore files, Dockerfiles and CI files.' },
  { name: 'Application settings', description: 'Settings of the whole instance.' },
  { name: 'Broadcast messages', description: 'Messages that everybody sees.' },
  { name: 'Background-job metrics', description: 'The queues of background jobs and the processes that work on them.' }
]

export const securitySchemes = {
  privateToken: {
    type: 'apiKey',
    in: 'header',
    name: 'PRIVATE-TOKEN',
    description: 'The private token of an account, or a personal access token.'
  },
  privateTokenInQuery: {
    type: 'apiKey',
    in: 'query',
    name: 'private_token',
    description: 'The same as a parameter, of the query or of the body. The header is better: URLs end up in logs.'
  },
  bearer: {
    type: 'http',
    scheme: 'bearer',
    description:
      'An OAuth token, also as the parameter `access_token` or `bearer_token`; docs/use/oauth.md says how to get one.'
  },
  session: {
    type: 'apiKey',
    in: 'cookie',
    name: '_service_session',
    description: 'The session of a browser. It only reads: requests that change something need a token.'
  }
} as const

/** Any one of them is enough. */
export const security: Record<string, string[]>[] = Object.keys(securitySchemes).map(name => ({ [name]: [] }))

/** Bodies are described as JSON alone: a generated client that finds forms as well sends all of them at once. */
export const DESCRIPTION = `
## Authentication
Send a private token or a personal access token in the header \`PRIVATE-TOKEN\` or the parameter \`private_token\`, or an OAuth
token as \`Authorization: Bearer\` or in the parameter \`access_token\` or \`bearer_token\`. The session cookie of a browser is
enough for requests that only read. The parameters may stand in the query or in the body, as a form or as JSON; what a header
says comes before the query, and the query before the body. Missing or wrong credentials give 401. Personal access tokens and
OAuth tokens have scopes: \`api\` allows everything that the user may do, \`read_user\` only to read users; an OAuth token
without the scope gives 403. Each operation says who may call it.

## Acting as another user
Administrators may act as another user, with their private token and the header \`SUDO\` (or the parameter \`sudo\`, in the
query or the body): a username or the id of a user. Others get 403; an unknown user gives 404.

## Parameters
The parameters of a body may be sent as JSON, as \`application/x-www-form-urlencoded\` or as \`multipart/form-data\`; in
forms and queries a list is written as \`scope[]=failed&scope[]=canceled\`. Unknown parameters are ignored. An \`:id\` of a
project is its id, or its path with the slash escaped: \`diaspora%2Fdiaspora\`.

## Lists
Most lists come in pages: \`page\` (from 1) and \`per_page\` (20, at most 100). The header \`Link\` has the URLs of the
pages before and after, \`X-Total\` and \`X-Total-Pages\` count.

## Errors
The body of an error is \`{"message": ...}\`: a text or, where a record cannot take values, the texts by attribute. A
missing or wrong parameter gives 400, also with \`error\` beside \`message\`. A project that the client may not see gives
404, as one that does not exist. Any operation may answer 429 with \`Retry-After\` after many wrong passwords or tokens, or
when one address has too many open requests, 500, 503 with \`Retry-After\` while the database is away or too much waits, or
507 while the disk is full.

Times are ISO 8601 date-times in UTC.
`.trim()
