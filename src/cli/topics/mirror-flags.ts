import type { MirrorBody } from '../../areas/code/mirrors/mirrors.schema.js'
import { readFirstLine } from '../input/password.js'
import { Flags } from '../oclif.js'

/** The flags of a mirror, for adding and changing it. */
export const mirrorFlags = {
  username: Flags.string({ description: 'the user for HTTP' }),
  'password-stdin': Flags.boolean({
    description: 'read the password or token for HTTP from the first line of standard input',
    exclusive: ['password-file']
  }),
  'password-file': Flags.file({ description: 'read the password or token for HTTP from the first line of a file' }),
  'host-key': Flags.string({ description: 'the fingerprint of the host key of an SSH server: SHA256:...' }),
  branches: Flags.string({ multiple: true, description: 'only branches with this name or pattern; you can repeat it' }),
  'overwrite-diverged': Flags.boolean({ allowNo: true, description: 'overwrite commits that only the target has' }),
  'delete-removed': Flags.boolean({
    allowNo: true,
    description: 'delete branches and tags at the remote that the project lacks; only for push'
  }),
  interval: Flags.integer({ min: 0, max: 10_080, description: 'minutes between two runs; 0 for no schedule' }),
  enabled: Flags.boolean({ allowNo: true, description: 'run it; --no-enabled stops it' })
}

interface Given {
  readonly username?: string | undefined
  readonly 'password-stdin'?: boolean | undefined
  readonly 'password-file'?: string | undefined
  readonly 'host-key'?: string | undefined
  readonly branches?: readonly string[] | undefined
  readonly 'overwrite-diverged'?: boolean | undefined
  readonly 'delete-removed'?: boolean | undefined
  readonly interval?: number | undefined
  readonly enabled?: boolean | undefined
}

/** Returns the attributes that the flags name. Reads the password. */
export async function mirrorWish(flags: Given): Promise<MirrorBody> {
  const hasPassword = flags['password-stdin'] === true || flags['password-file'] !== undefined
  const wish = {
    username: flags.username,
    password: hasPassword ? await readFirstLine('password', flags['password-file']) : undefined,
    ssh_host_key: flags['host-key'],
    branch_patterns: flags.branches && [...flags.branches],
    overwrite_diverged: flags['overwrite-diverged'],
    delete_removed: flags['delete-removed'],
    interval: flags.interval,
    enabled: flags.enabled
  }
  return Object.fromEntries(Object.entries(wish).filter(([, value]) => value !== undefined))
}
