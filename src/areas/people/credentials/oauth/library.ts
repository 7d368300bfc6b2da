import { createRequire } from 'node:module'
import type OAuth2Server from '@node-oauth/oauth2-server'

/** The library, loaded at the first OAuth request, because loading takes 40 ms of processor time and 11 MB. */
export const oauthLibrary = () => createRequire(import.meta.url)('@node-oauth/oauth2-server') as typeof OAuth2Server
