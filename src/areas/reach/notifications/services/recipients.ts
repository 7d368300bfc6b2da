// The project services that send mail. Their recipients are addresses, and the people who administer the project vouch for them.

import type { Slug } from '../../../projects/services/kinds.js'
import { addressesIn } from '../../../projects/services/services.js'
import { findService, type Properties, propertiesOf } from '../../../projects/services/services.queries.js'
import type { Recipient } from '../../mail/outbox.js'

export interface MailingService {
  readonly properties: Properties
  readonly recipients: readonly Recipient[]
}

/** Returns a service of a project; null when it is off. */
export async function mailingService(projectId: number, slug: Slug): Promise<MailingService | null> {
  const service = await findService(projectId, slug)
  if (service.row?.active !== 1) return null
  const properties = propertiesOf(service)
  const addresses = addressesIn(properties.recipients ?? '')
  return { properties, recipients: addresses.map(address => ({ userId: null, address, reason: 'service' })) }
}

/** Not specified: without the flag, there is only mail about failures, as in the reference. */
export const wantsSuccess = ({ notify_only_broken_builds: onlyBroken }: Properties): boolean => onlyBroken === false
