"""Two paths that answers in the tests name, and the ways they are written."""

from __future__ import annotations

import json

from bccontam.answer import EXAMPLE_PATHS, Prediction

ORDER = "src/Apps/W1/Shopify/App/src/Orders/ShpfyOrder.Table.al"
SHOP = "src/Apps/W1/Shopify/App/src/Base/ShpfyShop.Page.al"
BILLING = "src/Apps/W1/Subscription Billing/App/Customer Contracts/Tables/CustSubContractLine.Table.al"
BOTH = Prediction((ORDER, SHOP), "ok")
ANSWER = json.dumps([ORDER, SHOP])
ECHO = json.dumps(EXAMPLE_PATHS)
