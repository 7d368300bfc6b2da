// The whole permission table ("Permissions"). An action that is not in it is impossible.
import { DEVELOPER, GUEST, type Level, MASTER, OWNER, REPORTER } from '../lib/levels.js'
import type { Scope } from './scopes.js'

/** The switches that turn a part of a project off. */
export const FEATURES = [
  'issues_enabled',
  'merge_requests_enabled',
  'builds_enabled',
  'wiki_enabled',
  'snippets_enabled'
] as const
export type Feature = (typeof FEATURES)[number]

interface Common {
  /** A token needs one of these scopes; `api` by default. */
  readonly scopes?: readonly Scope[]
}

interface Levelled extends Common {
  /** The lowest level that a member needs. */
  readonly least: Level
  /** Signed-in users who see the project or group without being members may do it too. */
  readonly strangers?: true
  /** Clients without credentials may do it too, if the project or group is public. */
  readonly anonymous?: true
  /** Only administrators may do it, whatever the level of other users. */
  readonly admins?: true
}

export interface ProjectAbility extends Levelled {
  readonly on: 'project'
  /**
   * The effect of public_builds. `guests`: guests of a private project may do it only with public builds. `everybody`:
   * guests and strangers may both do it only with public builds.
   */
  readonly publicBuilds?: 'guests' | 'everybody'
  /** An archived project refuses it. */
  readonly writes?: true
  /** The switch that turns it off, and the response of a route while it is off: 403, 404, or an empty list. */
  readonly feature?: Feature
  readonly whenOff?: 'forbidden' | 'missing' | 'empty'
  /**
   * The action that is checked before the parameters: "Error conventions" names the areas whose routes return 404 and
   * 403 before 400. All other routes check the parameters first.
   */
  readonly before?: string
}

export interface GroupAbility extends Levelled {
  readonly on: 'group'
}

interface InstanceAbility extends Common {
  readonly on: 'instance'
  /** Everybody, signed-in users, or administrators. */
  readonly least: 'anybody' | 'user' | 'admin'
}

/** A rule about one record, for signed-in users. Administrators may always do it. */
export interface RecordAbility extends Common {
  readonly on: 'record'
  /** The users of the record who may do it. */
  readonly by: readonly ('owner' | 'author' | 'assignee')[]
  /** Members of the record's project with at least this level may do it too. */
  readonly least?: Level
  /** What others get: Forbidden, NotFound or Unauthorized. */
  readonly refusal: 'forbidden' | 'missing' | 'unauthorized'
}

export type Ability = ProjectAbility | GroupAbility | InstanceAbility | RecordAbility

const READ_USER = ['api', 'read_user'] as const

export const abilities = {
  'user.read': { on: 'instance', least: 'user', scopes: READ_USER },
  // The keys and addresses of other users.
  'user.read_account': { on: 'instance', least: 'admin', scopes: READ_USER },
  'user.administer': { on: 'instance', least: 'admin' },
  // The keys and addresses of one's own account.
  'account.read': { on: 'instance', least: 'user', scopes: READ_USER },
  'account.write': { on: 'instance', least: 'user' },
  'token.list': { on: 'instance', least: 'user' },
  'token.create': { on: 'instance', least: 'user' },
  'token.read': { on: 'record', by: ['owner'], refusal: 'missing' },
  'token.revoke': { on: 'record', by: ['owner'], refusal: 'missing' },
  'application.administer': { on: 'instance', least: 'admin' },
  'hook.administer': { on: 'instance', least: 'admin' },
  'settings.administer': { on: 'instance', least: 'admin' },
  'version.read': { on: 'instance', least: 'user' },
  'broadcast.administer': { on: 'instance', least: 'admin' },
  'audit.read': { on: 'instance', least: 'admin' },
  'template.read': { on: 'instance', least: 'anybody' },
  'migration.administer': { on: 'instance', least: 'admin' },
  'job.read': { on: 'instance', least: 'admin' },
  'job.administer': { on: 'instance', least: 'admin' },
  'group.list': { on: 'instance', least: 'user' },
  // The rule also requires can_create_group.
  'group.create': { on: 'instance', least: 'user' },
  'group.read': { on: 'group', least: GUEST, strangers: true },
  'group.administer': { on: 'group', least: OWNER },
  'group_member.read': { on: 'group', least: GUEST, strangers: true },
  'group_member.write': { on: 'group', least: OWNER },
  // Members may leave, so the rule checks whose membership it is.
  'group_member.remove': { on: 'group', least: GUEST, strangers: true },
  'group_access_request.read': { on: 'group', least: OWNER },
  // The rule refuses members and users who may not request access. The same holds for projects.
  'group_access_request.create': { on: 'group', least: GUEST, strangers: true },
  'group_access_request.approve': { on: 'group', least: OWNER },
  'group_access_request.remove': { on: 'group', least: GUEST, strangers: true },
  'project.list': { on: 'instance', least: 'user' },
  'project.list_visible': { on: 'instance', least: 'anybody' },
  'project.list_all': { on: 'instance', least: 'admin' },
  'project.create': { on: 'instance', least: 'user' },
  'project.create_for_user': { on: 'instance', least: 'admin' },
  'project.read': { on: 'project', least: GUEST, strangers: true, anonymous: true },
  // The members are only for signed-in users, even on public projects ("Endpoints usable without credentials").
  'member.read': { on: 'project', least: GUEST, strangers: true },
  'member.write': { on: 'project', least: MASTER },
  'member.remove': { on: 'project', least: GUEST, strangers: true },
  'access_request.read': { on: 'project', least: MASTER },
  'access_request.create': { on: 'project', least: GUEST, strangers: true },
  'access_request.approve': { on: 'project', least: MASTER },
  'access_request.remove': { on: 'project', least: GUEST, strangers: true },
  'project.star': { on: 'project', least: GUEST, strangers: true },
  // The rule refuses users who may not read the repository.
  'project.fork': { on: 'project', least: GUEST, strangers: true },
  'project.update': { on: 'project', least: MASTER },
  'project.share': { on: 'project', least: MASTER },
  // Covers the name, the visibility, archiving, the removal, and the end of a fork relation.
  'project.administer': { on: 'project', least: OWNER },
  'project.relate': { on: 'project', least: OWNER, admins: true },
  'project.transfer': { on: 'group', least: OWNER, admins: true },
  'deploy_key.list_all': { on: 'instance', least: 'admin' },
  'deploy_key.administer': { on: 'project', least: MASTER, before: 'deploy_key.administer' },
  'upload.create': { on: 'project', least: GUEST, strangers: true },
  'upload.read': { on: 'project', least: GUEST, strangers: true, anonymous: true },
  'repository.read': {
    on: 'project',
    least: REPORTER,
    strangers: true,
    anonymous: true,
    before: 'repository.read'
  },
  // Commits are only for signed-in users, even on public projects ("Endpoints usable without credentials").
  'commit.read': { on: 'project', least: REPORTER, strangers: true, before: 'commit.read' },
  // Branches are only for signed-in users, even on public projects; tags are not. Their areas check the project before
  // the parameters.
  'branch.read': { on: 'project', least: REPORTER, strangers: true, before: 'branch.read' },
  'branch.write': { on: 'project', least: DEVELOPER, writes: true, before: 'branch.read' },
  'branch.protect': { on: 'project', least: MASTER, before: 'branch.read' },
  'tag.write': { on: 'project', least: DEVELOPER, writes: true, before: 'repository.read' },
  'commit.write': { on: 'project', least: DEVELOPER, writes: true, before: 'commit.read' },
  'commit.comment': { on: 'project', least: REPORTER, strangers: true, before: 'commit.read' },
  'status.write': { on: 'project', least: DEVELOPER, writes: true },
  'file.read': { on: 'project', least: REPORTER, strangers: true, anonymous: true },
  'repository.write': { on: 'project', least: DEVELOPER, writes: true },
  // Pages only: the API has no such list.
  'merge_request.list_own': { on: 'instance', least: 'user' },
  'merge_request.read': { on: 'project', least: REPORTER, strangers: true, feature: 'merge_requests_enabled' },
  // The project in the path is the source. The rule checks what the user may do in the target.
  'merge_request.create': { on: 'project', least: DEVELOPER, writes: true, feature: 'merge_requests_enabled' },
  // The route finds the record before it checks the ability of the record: authors and assignees need no level.
  'merge_request.write': {
    on: 'project',
    least: GUEST,
    strangers: true,
    writes: true,
    feature: 'merge_requests_enabled'
  },
  'merge_request.update': { on: 'record', by: ['author', 'assignee'], least: DEVELOPER, refusal: 'forbidden' },
  // The target branch decides who may merge. Other users get 401.
  'merge_request.accept': { on: 'project', least: GUEST, strangers: true, feature: 'merge_requests_enabled' },
  'merge_request.delete': { on: 'project', least: OWNER, feature: 'merge_requests_enabled' },
  'pipeline.read': {
    on: 'project',
    least: REPORTER,
    strangers: true,
    publicBuilds: 'guests',
    feature: 'builds_enabled'
  },
  'build.list': {
    on: 'project',
    least: REPORTER,
    strangers: true,
    publicBuilds: 'everybody',
    feature: 'builds_enabled'
  },
  'build.read': {
    on: 'project',
    least: REPORTER,
    strangers: true,
    publicBuilds: 'everybody',
    feature: 'builds_enabled'
  },
  'pipeline.write': { on: 'project', least: DEVELOPER, writes: true, feature: 'builds_enabled' },
  // The reference lets everybody who reads builds play them. That would let strangers start the deployments of a public
  // project, so we require the level of the other actions.
  'build.write': { on: 'project', least: DEVELOPER, writes: true, feature: 'builds_enabled' },
  'environment.read': { on: 'project', least: REPORTER, feature: 'builds_enabled' },
  'environment.create': { on: 'project', least: DEVELOPER, writes: true, feature: 'builds_enabled' },
  'environment.stop': { on: 'project', least: DEVELOPER, writes: true, feature: 'builds_enabled' },
  'environment.administer': { on: 'project', least: MASTER, feature: 'builds_enabled' },
  'trigger.administer': { on: 'project', least: MASTER, feature: 'builds_enabled' },
  // The rules check what the user may do with this runner.
  'runner.list': { on: 'instance', least: 'user' },
  'runner.read': { on: 'instance', least: 'user' },
  'runner.write': { on: 'instance', least: 'user' },
  'runner.administer': { on: 'instance', least: 'admin' },
  'project_runner.administer': { on: 'project', least: MASTER, before: 'project_runner.administer' },
  // Planning. Records are only for signed-in users, even on public projects. A user who sees a project or group may
  // choose its notification level.
  'notification_setting.own': { on: 'instance', least: 'user' },
  'notification_setting.project': { on: 'project', least: GUEST, strangers: true },
  'notification_setting.group': { on: 'group', least: GUEST, strangers: true },
  'label.read': { on: 'project', least: GUEST, strangers: true },
  'label.write': { on: 'project', least: REPORTER },
  'milestone.read': { on: 'project', least: GUEST, strangers: true },
  'milestone.write': { on: 'project', least: MASTER },
  'issue.list_own': { on: 'instance', least: 'user' },
  'issue.list': { on: 'project', least: GUEST, strangers: true, feature: 'issues_enabled', whenOff: 'empty' },
  'issue.read': { on: 'project', least: GUEST, strangers: true, feature: 'issues_enabled', whenOff: 'missing' },
  'issue.create': { on: 'project', least: GUEST, strangers: true, feature: 'issues_enabled' },
  // The rules check whether the user may change this issue.
  'issue.write': { on: 'project', least: GUEST, strangers: true, feature: 'issues_enabled' },
  'issue.update': { on: 'record', by: ['author', 'assignee'], least: REPORTER, refusal: 'forbidden' },
  // The labels, milestone, assignee and due date of an issue, and its project.
  'issue.plan': { on: 'project', least: REPORTER, feature: 'issues_enabled' },
  'issue.delete': { on: 'project', least: OWNER, feature: 'issues_enabled' },
  'board.read': { on: 'project', least: GUEST, strangers: true, feature: 'issues_enabled' },
  'board.write': { on: 'project', least: REPORTER, feature: 'issues_enabled' },
  'board.remove': { on: 'project', least: OWNER, feature: 'issues_enabled' },
  'variable.administer': { on: 'project', least: MASTER, feature: 'builds_enabled' },
  'service.administer': { on: 'project', least: MASTER, before: 'service.administer' },
  'mirror.administer': { on: 'project', least: MASTER },
  'project_hook.administer': { on: 'project', least: MASTER, before: 'project_hook.administer' },
  // The queries leave private snippets out for users who are not members.
  'snippet.list': {
    on: 'project',
    least: GUEST,
    strangers: true,
    feature: 'snippets_enabled',
    whenOff: 'empty'
  },
  'snippet.read': {
    on: 'project',
    least: GUEST,
    strangers: true,
    feature: 'snippets_enabled',
    whenOff: 'missing'
  },
  'snippet.create': { on: 'project', least: REPORTER, feature: 'snippets_enabled' },
  // The rule also checks `snippet.change`, because the snippet may be the user's own.
  'snippet.write': { on: 'project', least: GUEST, strangers: true, feature: 'snippets_enabled' },
  // The rules check whether the user may read the target of the note or award.
  'note.read': { on: 'project', least: GUEST, strangers: true },
  'note.write': { on: 'project', least: GUEST, strangers: true },
  'note.change': { on: 'record', by: ['author'], least: MASTER, refusal: 'forbidden' },
  'award.read': { on: 'project', least: GUEST, strangers: true },
  'award.write': { on: 'project', least: GUEST, strangers: true },
  'award.remove': { on: 'record', by: ['owner'], refusal: 'unauthorized' },
  // The to-dos of the caller. Marking a target requires the right to read it.
  'todo.read': { on: 'instance', least: 'user' },
  'todo.write': { on: 'instance', least: 'user' },
  'snippet.change': { on: 'record', by: ['author'], least: MASTER, refusal: 'forbidden' },
  // The personal snippets of the caller. The rule refuses external users, who cannot create any.
  'personal_snippet.read': { on: 'instance', least: 'user' },
  'personal_snippet.write': { on: 'instance', least: 'user' }
} as const satisfies { [action: string]: Ability }

export type Action = keyof typeof abilities

/** Returns the line of an action in the table. */
export const abilityOf = (action: Action): Ability => abilities[action]

/** The actions on one kind of subject. */
export type ActionOn<Kind extends Ability['on']> = {
  [Name in Action]: (typeof abilities)[Name]['on'] extends Kind ? Name : never
}[Action]
