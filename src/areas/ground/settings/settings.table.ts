// Every application setting. The parameters and records of the API, the defaults, the help of the command line and the
// table in docs/reference/settings.md come from here.
import { storageNames } from '../../../cluster/storages.js'
import { config, publicUrl } from '../../../config.js'
import { isLocalPath, isWebUrl } from '../../../lib/link.js'
import { Nullable } from '../../../lib/schema.js'
import { type Static, type TSchema, Type } from '../../../lib/type.js'

interface Setting<T extends TSchema> {
  readonly schema: T
  /** The value until somebody changes it. */
  readonly default: () => Static<T>
  /** One line for the docs. */
  readonly meaning: string
  /** Where the setting takes effect; null when it is only stored and shown, because its feature does not exist yet. */
  readonly enforced: string | null
  /** Returns another problem of a value that fits the schema; null when the value is valid. */
  readonly check?: (value: Static<T>) => string | null
  /** Another setting that must have a value when this one is on. */
  readonly needs?: string
  /** A word that means null. */
  readonly none?: string
}

const setting = <T extends TSchema>(it: Setting<T>): Setting<T> => it

const flag = Type.Boolean()
const visibility = Type.Enum([0, 1, 2], { title: 'SettingsVisibility' })
const text = Nullable(Type.String({ maxLength: 10_000 }))
const link = Nullable(Type.String({ maxLength: 2000 }))
const whole = (minimum: number, maximum: number) => Type.Integer({ minimum, maximum })
/** Everything but the signs of ASCII. Not \p{L}: validators and clients in other languages cannot read that. */
const SIGNS = ':-@\\[-`{-\\xa0'
const DOMAIN = `^[^\\x00-)+-/${SIGNS}]([^\\x00-)+,/${SIGNS}]*[^\\x00-/${SIGNS}])?$`
const domains = Type.Array(Type.String({ minLength: 1, maxLength: 255, pattern: DOMAIN }), { maxItems: 1000 })
const none = () => null

const YEAR_MINUTES = 525_600

export const settingsTable = {
  default_projects_limit: setting({
    schema: whole(0, 2_147_483_647),
    default: () => 10,
    meaning: 'the maximum number of projects that a user may own',
    enforced: 'new users that are created without a limit of their own'
  }),
  signup_enabled: setting({
    schema: flag,
    default: () => true,
    meaning: 'people may create their own accounts',
    enforced: 'the sign-up page'
  }),
  signin_enabled: setting({
    schema: flag,
    default: () => true,
    meaning: 'people may sign in with a password of this appliance',
    enforced: 'the sign-in page, `POST /session` and passwords of git, except for administrators'
  }),
  avatar_service_enabled: setting({
    schema: flag,
    default: () => true,
    meaning: 'avatars come from an avatar service',
    enforced: null
  }),
  sign_in_text: setting({
    schema: text,
    default: none,
    meaning: 'a text on the sign-in page',
    enforced: 'the sign-in page, as plain text'
  }),
  after_sign_up_text: setting({
    schema: text,
    default: none,
    meaning: 'text that people see after the sign-up',
    enforced: 'the page after the sign-up, as plain text'
  }),
  home_page_url: setting({
    schema: link,
    default: none,
    meaning: 'where the start page sends people who are not signed in; an http or https URL',
    enforced: 'the redirect of `/`',
    check: value => urlProblem(value) ?? (isOwnRoot(value) ? 'is the start page itself' : null)
  }),
  default_branch_protection: setting({
    schema: Type.Enum([0, 1, 2, 3], { title: 'BranchProtection' }),
    default: () => 2 as const,
    meaning: 'default branches are protected not at all (0), partially (1), fully (2), or fully except for merges (3)',
    enforced:
      'the first push to a project: with 1 developers may push, with 2 only masters, with 3 developers may merge'
  }),
  restricted_visibility_levels: setting({
    schema: Nullable(Type.Array(visibility, { uniqueItems: true, maxItems: 3 })),
    default: none,
    meaning: 'private (0), internal (1) and public (2): the levels that only administrators may use',
    enforced: 'new projects and groups, and changes of their level'
  }),
  max_attachment_size: setting({
    schema: whole(1, 1_048_576),
    default: () => 10,
    meaning: 'the largest size of an attachment, in MB',
    enforced: 'files that are uploaded to a project'
  }),
  session_expire_delay: setting({
    schema: whole(1, 10 * YEAR_MINUTES),
    default: () => Math.max(1, Math.round(config().session.expire / 60)),
    meaning: 'how long a session lasts, in minutes; the default is `session.expire` of the configuration',
    enforced: 'new sessions, at once'
  }),
  default_project_visibility: setting({
    schema: visibility,
    default: () => 0 as const,
    meaning: 'the default visibility of projects: private (0), internal (1) or public (2)',
    enforced: 'new projects that are created without a level'
  }),
  default_snippet_visibility: setting({
    schema: visibility,
    default: () => 0 as const,
    meaning: 'the default visibility of snippets: private (0), internal (1) or public (2)',
    enforced: null
  }),
  default_group_visibility: setting({
    schema: visibility,
    default: () => 0 as const,
    meaning: 'the default visibility of groups: private (0), internal (1) or public (2)',
    enforced: 'new groups that are created without a level'
  }),
  domain_whitelist: setting({
    schema: Nullable(domains),
    default: none,
    meaning: 'mail domains with which people may sign up; null means all',
    enforced: 'the sign-up page'
  }),
  domain_blacklist_enabled: setting({
    schema: flag,
    default: () => false,
    meaning: 'nobody may sign up with a domain of domain_blacklist',
    enforced: 'the sign-up page',
    needs: 'domain_blacklist'
  }),
  domain_blacklist: setting({
    schema: domains,
    default: () => [],
    meaning: 'mail domains with which nobody may sign up; `*` stands for any text',
    enforced: 'the sign-up page'
  }),
  user_oauth_applications: setting({
    schema: flag,
    default: () => true,
    meaning: 'users may register OAuth applications',
    enforced: 'the page of applications, except for administrators; registered applications still work'
  }),
  disabled_oauth_sign_in_sources: setting({
    schema: Type.Array(Type.String({ minLength: 1, maxLength: 64 }), { maxItems: 100 }),
    default: () => [],
    meaning: 'OAuth providers with which nobody may sign in',
    enforced: null
  }),
  after_sign_out_path: setting({
    schema: link,
    default: none,
    meaning: 'where people go after they sign out: a path here, or an http or https URL',
    enforced: 'the redirect of `/users/sign_out`',
    check: value => (value !== null && isLocalPath(value) ? null : urlProblem(value))
  }),
  container_registry_token_expire_delay: setting({
    schema: whole(1, YEAR_MINUTES),
    default: () => 5,
    meaning: 'how long a token of the container registry lasts, in minutes',
    enforced: null
  }),
  repository_storages: setting({
    schema: Type.Array(Type.String({ minLength: 1, maxLength: 64 }), {
      minItems: 1,
      maxItems: 1000,
      uniqueItems: true
    }),
    default: storageNames,
    meaning:
      'the storages of new projects, of which each gets the emptiest; the default is all `repositories.storages` of the configuration',
    enforced: 'new projects',
    check: value => {
      const unknown = value.filter(name => !storageNames().includes(name))
      return unknown.length > 0 ? `can't include: ${unknown.join(', ')}` : null
    }
  }),
  enabled_git_access_protocol: setting({
    schema: Type.Unsafe<'ssh' | 'http' | 'nil' | '' | null>({
      type: 'string',
      enum: ['ssh', 'http', 'nil', '', null],
      nullable: true,
      title: 'GitAccessProtocol'
    }),
    default: none,
    meaning: 'the only protocol that git may use, `ssh` or `http`; null (or `nil`) allows both',
    enforced: 'git over SSH; git over HTTP, except with the tokens of running builds, which cannot use SSH',
    none: 'nil'
  }),
  ide_enabled: setting({
    schema: flag,
    default: () => false,
    meaning: 'the IDE at ide_url is offered',
    enforced: null,
    needs: 'ide_url'
  }),
  ide_url: setting({
    schema: link,
    default: none,
    meaning: 'an http or https URL',
    enforced: null,
    check: urlProblem
  }),
  diagram_enabled: setting({
    schema: flag,
    default: () => false,
    meaning: 'diagrams are drawn by the service at diagram_url',
    enforced: null,
    needs: 'diagram_url'
  }),
  diagram_url: setting({
    schema: link,
    default: none,
    meaning: 'an http or https URL',
    enforced: null,
    check: urlProblem
  })
}

export type SettingName = keyof typeof settingsTable

/** The value of every setting. */
export type Settings = { readonly [Name in SettingName]: Static<(typeof settingsTable)[Name]['schema']> }

export const SETTING_NAMES = Object.keys(settingsTable) as SettingName[]

export const isSettingName = (name: string): name is SettingName => Object.hasOwn(settingsTable, name)

/** A setting in the form that rules about all settings need. */
export const settingOf = (name: SettingName) => settingsTable[name] as unknown as Setting<TSchema>

/** The default values of all settings. */
export const defaultSettings = () =>
  Object.fromEntries(SETTING_NAMES.map(name => [name, settingOf(name).default()])) as unknown as Settings

function urlProblem(value: string | null): string | null {
  return value === null || isWebUrl(value) ? null : 'must be a valid URL'
}

const isOwnRoot = (value: string | null) =>
  value !== null && new URL(value).href.replace(/\/$/, '') === new URL(publicUrl()).href.replace(/\/$/, '')
