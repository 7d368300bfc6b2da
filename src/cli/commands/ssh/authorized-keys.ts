import { authorizedLine, fingerprintFrom } from '../../appliance/authorized-line.js'
import { BaseCommand } from '../../framework/base.js'
import { Args, Flags } from '../../oclif.js'

export default class SshAuthorizedKeys extends BaseCommand {
  static override summary = 'Print the authorized_keys line of a key, for AuthorizedKeysCommand of an OpenSSH server'
  static override description =
    'Prints nothing for a key without access. The appliance must be running, and the command must run as the owner of its home. docs/operate/ssh.md shows the lines for sshd_config. With --json: {line}, null for a key without access.'
  static override examples = [
    '<%= config.bin %> ssh authorized-keys --fingerprint SHA256:j9SJe5G2hl6PtznmWd+ioydvC0eZMTp+NCNKJ3S3MIc',
    '<%= config.bin %> ssh authorized-keys ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIBkKp0'
  ]
  static override args = {
    type: Args.string({ description: 'type of the key (%t of sshd_config)' }),
    key: Args.string({ description: 'the key in base64 (%k of sshd_config)' })
  }
  static override flags = {
    fingerprint: Flags.string({ description: 'fingerprint of the key (%f of sshd_config), instead of type and key' })
  }

  async run() {
    const { args, flags } = await this.parse(SshAuthorizedKeys)
    this.configure(flags)
    const line = await authorizedLine(fingerprintFrom({ ...args, fingerprint: flags.fingerprint }))
    if (line !== null) this.log(line)
    return { line }
  }
}
