import { createMirror, hookUrl } from '../../../areas/code/mirrors/mirrors.js'
import { viewMirror } from '../../../areas/code/mirrors/mirrors.view.js'
import { findSudoUser } from '../../../areas/people/credentials/credentials.js'
import { NoSuch } from '../../../errors.js'
import { BaseCommand } from '../../framework/base.js'
import { commandOrigin } from '../../framework/origin.js'
import { withDatabase } from '../../framework/with-database.js'
import { requireNamedProject } from '../../input/named-project.js'
import { Args, Flags } from '../../oclif.js'
import { mirrorFlags, mirrorWish } from '../../topics/mirror-flags.js'

export default class MirrorsAdd extends BaseCommand {
  static override summary = 'Let a project follow a remote, or pass its branches on to one'
  static override description =
    'A mirror runs in the name of its owner, who must be a master of the project. With an SSH URL, the command prints a public key to add at the remote; the host key of the server must be confirmed with --host-key, here or with `mirrors update`. The command also prints the token with which a hook of the remote starts a pull mirror; nothing shows it again. With --json: the mirror as in `mirrors show`, with hook_url and hook_token for a pull mirror.'
  static override examples = [
    '<%= config.bin %> mirrors add ada/engine https://git.example.org/engine.git --pull --owner ada',
    '<%= config.bin %> mirrors add ada/engine git@git.example.org:ada/engine.git --push --owner ada --branches main --branches "release/*"',
    '<%= config.bin %> mirrors add ada/engine https://git.example.org/engine.git --push --owner ada --username ada --password-file ./token --json'
  ]
  static override args = {
    project: Args.string({ required: true, description: 'the project: NAMESPACE/PROJECT or number' }),
    url: Args.string({ required: true, description: 'the remote: an http, https or ssh URL, or USER@HOST:PATH' })
  }
  static override flags = {
    pull: Flags.boolean({ description: 'the project follows the remote', exactlyOne: ['pull', 'push'] }),
    push: Flags.boolean({ description: 'the remote receives the branches of the project' }),
    owner: Flags.string({ required: true, description: 'the user in whose name it runs: username or number' }),
    ...mirrorFlags
  }

  async run() {
    const { args, flags } = await this.parse(MirrorsAdd)
    this.configure(flags)
    const wish = { ...(await mirrorWish(flags)), url: args.url }
    const { mirror, hookToken } = await withDatabase(async () => {
      const project = await requireNamedProject(args.project)
      const owner = await findSudoUser(flags.owner)
      if (!owner) throw new NoSuch('active user', flags.owner)
      return createMirror(project, flags.pull ? 'pull' : 'push', { ...wish, owner }, commandOrigin())
    })
    const view = viewMirror(mirror)
    this.log(`added ${view.direction} mirror ${view.id} of ${mirror.project}: ${view.url}`)
    if (view.ssh_public_key !== null) this.log(`public key for the remote: ${view.ssh_public_key}`)
    if (hookToken === null) return view
    this.log(`hook of the remote: ${hookUrl(mirror)} with the token ${hookToken}`)
    return { ...view, hook_url: hookUrl(mirror), hook_token: hookToken }
  }
}
