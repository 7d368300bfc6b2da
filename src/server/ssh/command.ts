// Reads the command of an SSH client. No part of it ever reaches a shell or a program: the path only finds a project.
import { BadRequest } from '../../errors.js'

interface OnProject {
  /** NAMESPACE/PROJECT. */
  readonly path: string
}

export interface GitCommand extends OnProject {
  readonly service: 'git-upload-pack' | 'git-receive-pack'
}

/** Asks for credentials for the LFS of a project. */
interface LfsCommand extends OnProject {
  readonly service: 'git-lfs-authenticate'
  readonly operation: 'download' | 'upload'
}

/** The most bytes of a command. The longest path of a project has 511 characters. */
const LONGEST = 4096
/** Clients quote the path as for a shell. No path of a project has characters that need it. */
const PATH = `(?:'([^'\\\\]*)'|"([^"\\\\$\`]*)"|([^\\s'"\\\\$\`;&|<>()-][^\\s'"\\\\$\`;&|<>()]*))`
const COMMAND = new RegExp(`^git[ -](upload-pack|receive-pack|upload-archive) +${PATH}$`)
/** Older clients add the name of an object. */
const LFS = new RegExp(`^git-lfs-authenticate +${PATH} +(download|upload)(?: +[0-9a-f]{64})?$`)

/** Reads the command. Throws BadRequest with a message for the user. */
export function readCommand(text: string): GitCommand | LfsCommand {
  const asked = text.length <= LONGEST ? text.trim() : ''
  const lfs = LFS.exec(asked)
  if (lfs) return { service: 'git-lfs-authenticate', path: pathIn(lfs), operation: lfs[4] as LfsCommand['operation'] }
  const found = COMMAND.exec(asked)
  if (!found) throw new BadRequest('this server runs only git-upload-pack and git-receive-pack, each with one path')
  const [, name = '', ...paths] = found
  if (name === 'upload-archive') {
    throw new BadRequest('git archive --remote is not offered: use GET /api/v3/projects/ID/repository/archive')
  }
  return { service: `git-${name as 'upload-pack' | 'receive-pack'}`, path: pathIn(['', ...paths]) }
}

/** Returns the path in the groups of PATH. */
const pathIn = ([, single, double, bare]: readonly (string | undefined)[]): string =>
  (single ?? double ?? bare ?? '')
    .replace(/^\/+/, '')
    .replace(/\/+$/, '')
    .replace(/\.git$/, '')
