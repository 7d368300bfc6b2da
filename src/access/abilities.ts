// The whole permission table. An action that is not here cannot be done.
import { DEVELOPER, GUEST, type Level, REPORTER } from './levels.js'

export interface ProjectAbility {
  readonly on: 'project'
  /** The least level of a member. */
  readonly least: Level
  /** Whoever can see a project that is not private may as well. */
  readonly strangers?: true
  /** Nobody in particular may as well, on a public project. */
  readonly anonymous?: true
  /**
   * What public builds open: to guests of a private project, who may not otherwise; or to guests and strangers alike,
   * who then may not without.
   */
  readonly publicBuilds?: 'guests' | 'everybody'
  /** Not on an archived project. */
  readonly writes?: true
  /** Only while this is switched on. */
  readonly feature?: 'builds_enabled'
}

export interface GlobalAbility {
  readonly on: 'instance'
  /** Everybody, those who are signed in, or administrators. */
  readonly least: 'anybody' | 'user' | 'admin'
  /** Personal access tokens of the scope read_user may as well. */
  readonly readUser?: true
}

export type Ability = ProjectAbility | GlobalAbility

export const abilities = {
  'user.read': { on: 'instance', least: 'user', readUser: true },
  'user.administer': { on: 'instance', least: 'admin' },
  // One's own account: keys, addresses, tokens.
  'account.read': { on: 'instance', least: 'user', readUser: true },
  'account.write': { on: 'instance', least: 'user' },
  'hook.administer': { on: 'instance', least: 'admin' },
  'settings.administer': { on: 'instance', least: 'admin' },
  'broadcast.administer': { on: 'instance', least: 'admin' },
  'audit.read': { on: 'instance', least: 'admin' },
  'template.read': { on: 'instance', least: 'anybody' },
  'job.read': { on: 'instance', least: 'admin' },
  'job.administer': { on: 'instance', least: 'admin' },
  'project.list': { on: 'instance', least: 'user' },
  'project.list_visible': { on: 'instance', least: 'anybody' },
  'project.list_all': { on: 'instance', least: 'admin' },
  'project.create': { on: 'instance', least: 'user' },
  'project.read': { on: 'project', least: GUEST, strangers: true, anonymous: true },
  'repository.read': { on: 'project', least: REPORTER, strangers: true, anonymous: true },
  // Not specified for nobody: commits need a user even on public projects.
  'commit.read': { on: 'project', least: REPORTER, strangers: true },
  'repository.write': { on: 'project', least: DEVELOPER, writes: true },
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
  }
} as const satisfies { [action: string]: Ability }

export type Action = keyof typeof abilities
