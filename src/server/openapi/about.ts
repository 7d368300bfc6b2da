// The general part of the OpenAPI document.

export const tags = [
  { name: 'Users', description: 'User accounts with their keys, email addresses and tokens.' },
  { name: 'OAuth applications', description: 'Applications that act on behalf of users.' },
  { name: 'Groups', description: 'Groups of users who own projects together.' },
  { name: 'Namespaces', description: 'The namespaces of users and groups, which contain projects.' },
  { name: 'Members', description: 'The users with an access level in a project or group.' },
  { name: 'Access requests', description: 'Users who ask to become members of a project or group.' },
  { name: 'Projects', description: 'Projects: a repository with its issues, builds and settings.' },
  {
    name: 'Deploy keys',
    description: 'SSH keys that give access to the repositories of projects, without an account.'
  },
  { name: 'Repository', description: 'Files, folders and commits of the git repository of a project.' },
  { name: 'Branches', description: 'Branches of the repository, and their protection.' },
  { name: 'Tags', description: 'Tags of the repository, and their release notes.' },
  { name: 'Merge requests', description: 'Proposals to merge the changes of one branch into another.' },
  { name: 'Pipelines', description: 'Runs of the CI file, each for one commit.' },
  { name: 'Builds', description: 'The jobs of pipelines, with their traces and artifacts.' },
  { name: 'Runners', description: 'Programs that run builds, on this machine or on others.' },
  { name: 'Environments', description: 'The places that builds deploy to.' },
  { name: 'Deployments', description: 'The versions that builds have deployed to environments.' },
  { name: 'Commit statuses', description: 'Results that builds and services report for a commit.' },
  { name: 'Mirrors', description: 'Remotes that a project follows, or that receive its branches.' },
  { name: 'Triggers', description: 'Tokens with which programs start pipelines.' },
  { name: 'Variables', description: 'Values that every build of a project gets, such as passwords.' },
  { name: 'Labels', description: 'Labels that mark issues and merge requests.' },
  { name: 'Milestones', description: 'Milestones of a project, for which issues and merge requests are planned.' },
  { name: 'Issues', description: 'Bugs, tasks and ideas of projects.' },
  { name: 'Boards', description: 'The issues of a project in lists, by their labels.' },
  { name: 'Snippets', description: 'Pieces of text and code, in a project or of a user.' },
  { name: 'Notes', description: 'Comments on issues, merge requests and snippets.' },
  { name: 'Award emoji', description: 'Emoji that people give to issues, merge requests, snippets and notes.' },
  { name: 'Todos', description: 'Your pending to-dos: issues, merge requests and commits.' },
  { name: 'Notification settings', description: 'Which events users get mail about.' },
  { name: 'Project hooks', description: 'URLs that are called when something happens in a project.' },
  {
    name: 'Services',
    description: 'Integrations of projects with mail and other programs, such as trackers and wikis.'
  },
  { name: 'System hooks', description: 'URLs that are called when something happens anywhere on the instance.' },
  { name: 'Audit', description: 'Who changed what, when and from where.' },
  { name: 'Templates', description: 'Templates for new files: licenses, ignore files, Dockerfiles and CI files.' },
  { name: 'Application settings', description: 'Settings of the whole instance.' },
  { name: 'Broadcast messages', description: 'Messages that everybody sees.' },
  { name: 'Migrations', description: 'Forges from which projects move here.' },
  { name: 'Background-job metrics', description: 'The queues of background jobs, and the processes that run them.' }
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
    description:
      'The same token as a parameter in the query or the body. Prefer the header, because URLs end up in logs.'
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
    description: 'The session of a browser. It is valid for reads only; requests that change something need a token.'
  }
} as const

/** Any one of them is enough. */
export const security: Record<string, string[]>[] = Object.keys(securitySchemes).map(name => ({ [name]: [] }))

/** Bodies are described as JSON only: a generated client that also finds forms sends all of them at once. */
export const DESCRIPTION = `
## Authentication
Send a private token or a personal access token in the header \`PRIVATE-TOKEN\` or the parameter \`private_token\`, or an OAuth
token as \`Authorization: Bearer\` or in the parameter \`access_token\` or \`bearer_token\`. The session cookie of a browser is
enough for requests that only read. The parameters may be in the query or in the body, as a form or as JSON. A header takes
precedence over the query, and the query over the body. Missing or wrong credentials return 401. Personal access tokens and
OAuth tokens have scopes: \`api\` allows everything that the user may do, \`read_user\` only to read users; an OAuth token
without the required scope gets 403. Each operation says who may call it.

## Acting as another user
Administrators may act as another user with their private token and the header \`SUDO\` (or the parameter \`sudo\`, in the
query or the body): a username or the id of a user. Other callers get 403, and so does the name of a blocked user; an unknown user
returns 404.

## Parameters
Body parameters may be sent as JSON, as \`application/x-www-form-urlencoded\` or as \`multipart/form-data\`; in
forms and queries a list is written as \`scope[]=failed&scope[]=canceled\`. Unknown parameters are ignored. An \`:id\` of a
project is its id, or its path with the slash escaped: \`diaspora%2Fdiaspora\`.

## Lists
Most lists are paginated: \`page\` starts at 1, and \`per_page\` is 20 by default and at most 100. The header \`Link\` has the
URLs of the previous and next pages, \`X-Total\` and \`X-Total-Pages\` have the totals.

## Versions
Answers to GET have an \`ETag\`. With this value in \`If-None-Match\`, the same request returns 304 without a body while the answer
has not changed.

## Errors
The body of an error is \`{"message": ...}\`: a text or, when a record does not accept values, the texts by attribute. A
missing or wrong parameter returns 400, with \`error\` in addition to \`message\`. A project that the client may not see returns
404, like one that does not exist. Any operation may return 400 or 431 when the request cannot be read or its headers and URL are longer than
16 KiB together, 408 when it arrives too slowly, 429 with \`Retry-After\` after many wrong passwords or tokens, or
when one address has too many open requests, 500, 503 with \`Retry-After\` while the database is unavailable or too many requests wait, or
507 while the disk is full.

Times are ISO 8601 date-times in UTC.
`.trim()
