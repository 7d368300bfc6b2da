import { hookUrl, updateMirror } from '../../../areas/code/mirrors/mirrors.js'
import { requireMirror } from '../../../areas/code/mirrors/mirrors.queries.js'
import { viewMirror } from '../../../areas/code/mirrors/mirrors.view.js'
import { findSudoUser } from '../../../areas/people/credentials/credentials.js'
import { NoSuch } from '../../../errors.js'
import { BaseCommand } from '../../framework/base.js'
import { commandOrigin } from '../../framework/origin.js'
import { withDatabase } from '../../framework/with-database.js'
import { orNotFound } from '../../input/or-not-found.js'
import { recordNumber } from '../../input/record-number.js'
import { Flags } from '../../oclif.js'
import { mirrorFlags, mirrorWish } from '../../topics/mirror-flags.js'

export default class MirrorsUpdate extends BaseCommand {
  static override summary = 'Change a mirror, or confirm the host key of its server'
  static override description =
    'Values without a flag do not change. Another URL does not get the password or the key pair of the old one. With --json: the mirror as in `mirrors show`; with --new-hook-token, also hook_url and hook_token.'
  static override examples = [
    '<%= config.bin %> mirrors update 3 --host-key SHA256:eUXGGm1YGsMAS7vkcx6JOJdOGHPem5gQp4taiCfCLB8',
    '<%= config.bin %> mirrors update 3 --no-enabled --json'
  ]
  static override args = { id: recordNumber('number of the mirror') }
  static override flags = {
    url: Flags.string({ description: 'another remote' }),
    owner: Flags.string({ description: 'the user in whose name it runs: username or number' }),
    'new-hook-token': Flags.boolean({ description: 'make a new token for the hook of a pull mirror' }),
    ...mirrorFlags
  }

  async run() {
    const { args, flags } = await this.parse(MirrorsUpdate)
    this.configure(flags)
    const wish = {
      ...(await mirrorWish(flags)),
      ...(flags.url !== undefined && { url: flags.url }),
      ...(flags['new-hook-token'] && { new_hook_token: true })
    }
    const { mirror, hookToken } = await withDatabase(async () => {
      const known = await orNotFound('mirror', args.id, () => requireMirror(args.id))
      const owner = flags.owner === undefined ? undefined : await findSudoUser(flags.owner)
      if (flags.owner !== undefined && !owner) throw new NoSuch('active user', flags.owner)
      return updateMirror(known, { ...wish, ...(owner && { owner }) }, commandOrigin())
    })
    const view = viewMirror(mirror)
    this.log(`changed mirror ${view.id}: ${view.url}`)
    if (hookToken === null) return view
    this.log(`hook of the remote: ${hookUrl(mirror)} with the token ${hookToken}`)
    return { ...view, hook_url: hookUrl(mirror), hook_token: hookToken }
  }
}
