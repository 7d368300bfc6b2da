import type { Origin } from '../../../access/actor.js'
import { transact } from '../../../db/connect/transact.js'
import { Hook } from '../../../db/models/index.js'
import { Invalid, NotFound, Unprocessable } from '../../../errors.js'
import { encrypt } from '../../../secrets.js'
import { hookBody } from '../../../webhooks/body.js'
import { samplePayload } from '../../../webhooks/system-payloads.js'
import { checkHookUrl, shownUrl } from '../../../webhooks/url.js'
import { audit, changesBetween } from '../audit/audit.js'
import { addDelivery, cancelDeliveriesOf } from './deliveries.js'
import { testKey } from './delivery-keys.js'
import type { HookBody } from './hooks.schema.js'

/** Returns all system hooks, oldest first. */
export function listHooks(): Promise<Hook[]> {
  return Hook.findAll({ where: { projectId: null }, order: ['id'] })
}

const TOKEN_LIMIT = 500

/** Adds a system hook. Throws Unprocessable for a URL that deliveries cannot use, Invalid for a too long token. */
export async function createHook(body: HookBody, origin: Origin): Promise<Hook> {
  if (checkHookUrl(body.url) !== null) throw new Unprocessable('Invalid url given')
  if (body.token && body.token.length > TOKEN_LIMIT) {
    throw new Invalid('token', `is too long (maximum is ${TOKEN_LIMIT} characters)`)
  }
  return transact(async () => {
    const hook = await Hook.create({
      url: body.url,
      tokenEncrypted: body.token ? encrypt(body.token) : null,
      pushEvents: body.push_events ?? true,
      tagPushEvents: body.tag_push_events ?? false,
      noteEvents: body.note_events ?? false,
      issuesEvents: body.issues_events ?? false,
      mergeRequestsEvents: body.merge_requests_events ?? false,
      enableSslVerification: body.enable_ssl_verification ?? true
    })
    const changes = changesBetween(null, { ...body, url: shownUrl(body.url) })
    await audit(origin, { action: 'hook.create', target: targetOf(hook), changes })
    return hook
  })
}

/** Adds a delivery of the sample payload. Returns the payload and the id of the delivery. Throws NotFound. */
export async function testHook(id: number) {
  const hook = await findHook(id)
  const sample = samplePayload()
  const deliveryId = await addDelivery(hook, { key: testKey(), event: sample.event_name, body: hookBody(sample) })
  return { sample, deliveryId: Number(deliveryId) }
}

/** Removes a system hook and cancels its pending deliveries. Throws NotFound. */
export async function deleteHook(id: number, origin: Origin): Promise<Hook> {
  const hook = await findHook(id)
  await transact(async () => {
    await hook.destroy()
    await cancelDeliveriesOf([hook.id])
    await audit(origin, { action: 'hook.delete', target: targetOf(hook) })
  })
  return hook
}

/** Returns the hook as the target of an audit event. */
export const targetOf = (hook: Hook) => ({ type: 'hook', id: hook.id, name: shownUrl(hook.url) })

/** Returns a system hook. Throws NotFound, also for the hook of a project. */
export async function findHook(id: number): Promise<Hook> {
  const hook = await Hook.findOne({ where: { id, projectId: null } })
  if (!hook) throw new NotFound('System hook')
  return hook
}
