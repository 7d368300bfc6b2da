import { config, publicUrl } from '../../../config.js'
import { Invalid } from '../../../errors.js'
import { requireHome } from '../../../home.js'
import { messageOf } from '../../../mail/message.js'
import { render } from '../../../mail/render.js'
import { converse, type Say, sendMessage } from '../../../mail/transport.js'
import { isSendable } from './outbox.js'

/**
 * Sends a mail to an address now, over a separate connection, without the queue and the database. `say` gets the conversation
 * with an SMTP server. Throws Invalid for an address that no server would accept, MailFault, and NoHome.
 */
export async function sendTestMail(address: string, say: Say): Promise<void> {
  if (!isSendable(address)) throw new Invalid('address', 'is not an address that a server would accept')
  const now = new Date()
  const rendered = render('test', {
    facts: { sent_at: now.toISOString() },
    filled: {},
    url: publicUrl(),
    recipient: { name: null, address },
    reason: 'test',
    unsubscribeUrl: null
  })
  const id = `test.${now.getTime().toString(36)}`
  const to = { name: null, address }
  const message = messageOf({ rendered, to, id, thread: null, reason: 'test', list: null, unsubscribeUrl: null })
  if (config().mail.transport === 'smtp') return converse(message, say)
  // The file transport would create a folder wherever a typing error leads. A server can be tried before there is a home.
  if (config().mail.transport === 'file') requireHome()
  say(await sendMessage(message, id))
}
