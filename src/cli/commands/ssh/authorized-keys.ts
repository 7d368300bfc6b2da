import { authorizedLine, fingerprintFrom } from '../../appliance/authorized-line.js'
import { BaseCommand } from '../../framework/base.js'
import { Args, Flags } from '../../oclif.js'

export default class SshAuthorizedKeys extends BaseCommand {
  static override summary =
    'Print the line of authorized_keys for a key, for AuthorizedKeysCommand of an OpenSSH server'
  static override description =
    'It prints nothing for a key that opens nothing. The appliance must run, and this user must be the owner of its home. docs/operate/ssh.md shows the lines of sshd_config. With --json: {line}, null for a key that opens nothing.'
  static override examples = [
    '<%= config.bin %> ssh authorized-keys --fingerprint SHA256:j9SJe5G2hl6PtznmWd+ioydvC0eZMTp+NCNKJ3S3MIc',
    '<%= config.bin %> ssh authorized-keys ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIBkKp0'
  ]
  static override args = {
    type: Args.string({ description: 'type of the key (%t of sshd_config)' }),
    key: Args.string({ description: 'the key in base64 (%k of sshd_config)' })
  }
  static override flags = {
    fingerprint: Flags.string({ description: 'fingerprint of the key (%f of sshd_config), in place of type and key' })
  }

  async run() {
    const { args, flags } = await this.parse(SshAuthorizedKeys)
    this.configure(flags)
    const line = await authorizedLine(fingerprintFrom({ ...args, fingerprint: flags.fingerprint }))
    if (line !== null) this.log(line)
    return { line }
  }
}
