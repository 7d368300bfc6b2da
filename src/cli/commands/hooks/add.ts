import { Flags } from '@oclif/core'
import { BaseCommand } from '../../base.js'

const flag = (what: string, usual: boolean) =>
  Flags.boolean({ allowNo: true, default: usual, description: `${what} (default: ${usual ? 'yes' : 'no'})` })

export default class HooksAdd extends BaseCommand {
  static override summary = 'Add a system hook'
  static override description =
    'It is told of users, keys and projects that come and go, and of pushes and tags as the flags say. The token comes from standard input or a file, never from the command line; it is sent with each delivery and signs it. Private addresses are refused at delivery unless hooks.allow lists them. With --json: the hook as `hooks show` has it.'
  static override examples = [
    '<%= config.bin %> hooks add --url https://ci.example.org/hook',
    'echo "$TOKEN" | <%= config.bin %> hooks add --url https://ci.example.org/hook --token-stdin --tag-push-events',
    '<%= config.bin %> hooks add --url https://audit.example.org/ --token-file ./token --no-push-events --json'
  ]
  static override flags = {
    url: Flags.string({ required: true, description: 'an http or https URL' }),
    'token-stdin': Flags.boolean({ description: 'read the token from the first line of standard input' }),
    'token-file': Flags.file({ description: 'read the token from the first line of a file' }),
    'push-events': flag('tell it of pushes to branches', true),
    'tag-push-events': flag('tell it of pushes of tags', false),
    'note-events': flag('keep the flag for notes, of which there is no system event', false),
    'issues-events': flag('keep the flag for issues, of which there is no system event', false),
    'merge-requests-events': flag('keep the flag for merge requests, of which there is no system event', false),
    'enable-ssl-verification': flag("check the receiver's certificate", true)
  }

  async run() {
    const { flags } = await this.parse(HooksAdd)
    this.configure(flags)
    const [{ readSecret }, { checkHookUrl }] = await Promise.all([
      import('../../password.js'),
      import('../../../webhooks/url.js')
    ])
    const problem = checkHookUrl(flags.url)
    if (problem) this.error(`--url ${problem}`, { exit: 2 })
    const source = { stdin: flags['token-stdin'], file: flags['token-file'] }
    const token = source.stdin || source.file !== undefined ? await readSecret('token', source) : undefined
    const [{ withDatabase }, { commandOrigin }, { createHook }, { viewHookWithHealth }] = await Promise.all([
      import('../../with-database.js'),
      import('../../origin.js'),
      import('../../../areas/hooks/hooks.js'),
      import('../../../areas/hooks/hooks.view.js')
    ])
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
    const hook = viewHookWithHealth(await withDatabase(() => createHook(body, commandOrigin())), undefined)
    this.log(`added hook ${hook.id}: see that it answers by gitstead hooks test ${hook.id} --wait`)
    return hook
  }
}
