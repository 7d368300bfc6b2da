import { testAccess } from '../../../access/matrix.js'
import { access as mergeRequests } from './merge-requests.access.js'

testAccess([mergeRequests])
