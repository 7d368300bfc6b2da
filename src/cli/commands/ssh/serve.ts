import { fingerprintFrom } from '../../appliance/authorized-line.js'
import { passThrough } from '../../appliance/ssh-serve.js'
import { BaseCommand } from '../../framework/base.js'
import { Flags } from '../../oclif.js'

export default class SshServe extends BaseCommand {
  static override summary = 'Serve git to one client of an OpenSSH server; `ssh authorized-keys` prints this command'
  static override description =
    'Passes the bytes between the client and the running server, which checks access and enforces all limits. The command of the client is in SSH_ORIGINAL_COMMAND.'
  static override examples = [
    '<%= config.bin %> ssh serve --fingerprint SHA256:j9SJe5G2hl6PtznmWd+ioydvC0eZMTp+NCNKJ3S3MIc',
    '<%= config.bin %> ssh serve --home /srv/gitstead --fingerprint SHA256:j9SJe5G2hl6PtznmWd+ioydvC0eZMTp+NCNKJ3S3MIc'
  ]
  static override flags = {
    fingerprint: Flags.string({
      required: true,
      description: 'fingerprint of the key with which the client has authenticated'
    })
  }

  async run() {
    const { flags } = await this.parse(SshServe)
    this.configure(flags)
    process.exitCode = await passThrough(fingerprintFrom(flags))
  }
}
