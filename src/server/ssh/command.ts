// Reads the command of an SSH client. No part of it ever reaches a shell or a program: the path only finds a project.
import { BadRequest } from '../../errors.js'

export interface GitCommand {
  readonly service: 'git-upload-pack' | 'git-receive-pack'
  /** NAMESPACE/PROJECT. */
  readonly path: string
}

/** The most bytes of a command. The longest path of a project has 511 characters. */
const LONGEST = 4096
/** Clients quote the path as for a shell. No path of a project has characters that need it. */
const COMMAND =
  /^git[ -](upload-pack|receive-pack|upload-archive) +(?:'([^'\\]*)'|"([^"\\$`]*)"|([^\s'"\\$`;&|<>()-][^\s'"\\$`;&|<>()]*))$/

/** Reads the command. Throws BadRequest with a message for the user. */
export function readCommand(text: string): GitCommand {
  const found = text.length <= LONGEST ? COMMAND.exec(text.trim()) : null
  if (!found) throw new BadRequest('this server runs only git-upload-pack and git-receive-pack, each with one path')
  const [, name, single, double, bare] = found
  if (name === 'upload-archive') {
    throw new BadRequest('git archive --remote is not offered: use GET /api/v3/projects/ID/repository/archive')
  }
  const path = (single ?? double ?? bare ?? '')
    .replace(/^\/+/, '')
    .replace(/\/+$/, '')
    .replace(/\.git$/, '')
  return { service: `git-${name as 'upload-pack' | 'receive-pack'}`, path }
}
