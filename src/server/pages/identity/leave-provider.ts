// Pages that open a provider after a form.
import type { FastifyReply } from 'fastify'
import { ProviderAway, ProviderRefusal } from '../../../oidc/failures.js'
import { wayOut } from '../../../oidc/flow.js'
import { type Provider, providers } from '../../../oidc/provider.js'
import { sendPage } from '../page.js'

/**
 * Answers a form with a page that opens the provider. Browsers check each redirect after a form against the policy of its page, and a
 * provider may use several hosts.
 */
export function openProvider(reply: FastifyReply, { label }: Provider, url: string): Promise<FastifyReply> {
  reply.header('refresh', `0; url=${url}`)
  const text = { title: 'One moment', says: `${label} opens.`, link: 'Continue' }
  return sendPage(reply, 'message', { ...text, small: true, to: url })
}

/** Opens the page on which the provider of an ended session ends its own session, if the configuration says so. */
export async function leaveProvider(reply: FastifyReply, name: string | null): Promise<FastifyReply | null> {
  const provider = name === null ? undefined : providers().find(each => each.name === name && each.settings.end_session)
  if (!provider) return null
  try {
    const url = await wayOut(provider)
    return url === null ? null : await openProvider(reply, provider, url)
  } catch (error) {
    // People are signed out here in any case.
    if (error instanceof ProviderAway || error instanceof ProviderRefusal) return null
    throw error
  }
}
