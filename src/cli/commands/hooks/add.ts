import { createHook } from '../../../areas/ground/hooks/hooks.js'
import { viewHookWithHealth } from '../../../areas/ground/hooks/hooks.view.js'
import { checkHookUrl } from '../../../webhooks/url.js'
import { BaseCommand } from '../../framework/base.js'
import { commandOrigin } from '../../framework/origin.js'
import { withDatabase } from '../../framework/with-database.js'
import { readSecret } from '../../input/password.js'
import { Flags } from '../../oclif.js'

const flag = (what: string, usual: boolean) =>
  Flags.boolean({ allowNo: true, default: usual, description: `${what} (default: ${usual ? 'yes' : 'no'})` })

export default class HooksAdd extends BaseCommand {
  static override summary = 'Add a system hook'
  static override description =
    'The hook receives every system event (see `hooks events`); flags select whether it also receives pushes and tags. The token is read from standard input or a file, never from the command line. Each delivery contains the token and is signed with it. Delivery to a private address fails unless hooks.allow lists the address. With --json: the hook as in `hooks show`.'
  static override examples = [
    '<%= config.bin %> hooks add --url https://ci.example.org/hook',
    'echo "$TOKEN" | <%= config.bin %> hooks add --url https://ci.example.org/hook --token-stdin --tag-push-events',
    '<%= config.bin %> hooks add --url https://audit.example.org/ --token-file ./token --no-push-events --json'
  ]
  static override flags = {
    url: Flags.string({ required: true, description: 'the http or https URL of the receiver' }),
    'token-stdin': Flags.boolean({ description: 'read the token from the first line of standard input' }),
    'token-file': Flags.file({ description: 'read the token from the first line of a file' }),
    'push-events': flag('send pushes to branches', true),
    'tag-push-events': flag('send pushes of tags', false),
    'note-events': flag('store the flag for notes; no system event uses it', false),
    'issues-events': flag('store the flag for issues; no system event uses it', false),
    'merge-requests-events': flag('store the flag for merge requests; no system event uses it', false),
    'enable-ssl-verification': flag('check the certificate of the receiver', true)
  }

  async run() {
    const { flags } = await this.parse(HooksAdd)
    this.configure(flags)
    const problem = checkHookUrl(flags.url)
    if (problem) this.error(`--url ${problem}`, { exit: 2 })
    const source = { stdin: flags['token-stdin'], file: flags['token-file'] }
    const token = source.stdin || source.file !== undefined ? await readSecret('token', source) : undefined
    const body = {
      url: flags.url,
      token,
      push_events: flags['push-events'],
      tag_push_events: flags['tag-push-events'],
      note_events: flags['note-events'],
      issues_events: flags['issues-events'],
      merge_requests_events: flags['merge-requests-events'],
      enable_ssl_verification: flags['enable-ssl-verification']
    }
    const hook = viewHookWithHealth(
      await withDatabase(() => createHook(body, commandOrigin()), { makes: true }),
      undefined
    )
    this.log(`added hook ${hook.id}: test it with gitstead hooks test ${hook.id} --wait`)
    return hook
  }
}
